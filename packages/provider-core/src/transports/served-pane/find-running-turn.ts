import type { JsonRpcLimits } from '../json-rpc/json-rpc-connection.js';
import { JsonRpcRefusal } from '../json-rpc/json-rpc-error.js';
import type { ActivityParts } from './session-activity.js';

/** The turn that the server says is running; absent also for a session that never had one, which has no list of turns. */
export async function findRunningTurn(
  { way, connection, nativeSessionId }: ActivityParts,
  limits: Pick<JsonRpcLimits, 'deadlineMs' | 'signal'>,
): Promise<string | undefined> {
  const { protocol } = way;
  try {
    const result = await connection.call(protocol.listTurns(nativeSessionId), {
      deadlineMs: limits.deadlineMs,
      signal: limits.signal,
    });
    return protocol.readTurns(result).find((turn) => turn.isRunning)?.nativeTurnId;
  } catch (error) {
    if (error instanceof JsonRpcRefusal) return undefined;
    throw error;
  }
}
