import type { SessionTrust } from '../../spec/served-pane.js';
import { JsonRpcLost, JsonRpcRefusal } from '../json-rpc/json-rpc-error.js';
import type { RunningServer } from './ensure-server.js';
import type { OpenParts } from './open-served-session.js';

export interface FirstTurnParts extends OpenParts {
  readonly server: RunningServer;
  readonly trust: SessionTrust;
  readonly opened: { readonly nativeSessionId: string };
}

/** How often a new session is asked whether it has a record by now. */
const POLL_MS = 10;

/** A new session can be resumed, by us or by a pane, only once its first turn has made a record. False when that never was. */
export async function followFirstTurn(
  parts: FirstTurnParts,
  signal: AbortSignal,
): Promise<boolean> {
  const { way, context, server, trust, request, opened } = parts;
  const { connection } = server;
  const { nativeSessionId } = opened;
  const call = way.protocol.resumeSession({ config: context.config, nativeSessionId, trust });
  while (!signal.aborted && !connection.isClosed) {
    try {
      await connection.call(call, { deadlineMs: request.deadlineMs, signal });
      return true;
    } catch (error) {
      if (!(error instanceof JsonRpcRefusal)) {
        const isExpected = error instanceof JsonRpcLost || signal.aborted;
        if (!isExpected) context.logger.warn({ err: error }, 'first turn not followed');
        return false;
      }
    }
    await context.clock.sleep(POLL_MS);
  }
  return false;
}
