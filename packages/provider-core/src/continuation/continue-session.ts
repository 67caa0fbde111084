import type { CodingProviderSessionHandle } from '../spec/provider-session-handle.js';
import type { SessionConfig } from '../spec/session-config.js';
import type { Message } from '../spec/turn.js';
import { prepareStateDir } from '../state/prepare-state-dir.js';
import { beginTurn } from './begin-turn.js';
import { checkConfig } from './check-config.js';
import { decodeHandle } from './decode-handle.js';
import { checkMessageShape, outgoingMessage } from './outgoing-message.js';
import { checkHandle, resolveSession } from './resolve-session.js';
import { runInSession } from './run-in-session.js';
import type { CodingAgentTurn } from './turn-object.js';
import { resolveTurnOptions, type TurnOptions, turnIdOf } from './turn-options.js';

export interface ContinueOptions extends TurnOptions {
  /**
   * Needed only where this machine has no launch record of the session; given anyway, its stable fields must be the
   * ones the session was started with.
   */
  readonly config?: SessionConfig | undefined;
}

/**
 * Sends `message` to an existing session: into its living process, or into one that resumes it natively. A handle
 * (object, JSON object or JSON text) and a message are enough on the machine that owns the session.
 *
 * Rejects with a `CodingAgentContinuationError` or a `CodingAgentTurnError`; throws `TypeError` for wrong arguments.
 */
export function continueCodingAgentSession(
  handle: CodingProviderSessionHandle | Readonly<Record<string, unknown>> | string,
  message: Message,
  options: ContinueOptions = {},
): CodingAgentTurn {
  checkMessageShape(message);
  if (options.config) checkConfig(options.config);
  const turnId = turnIdOf(options);
  const resolved = resolveTurnOptions(options);
  return beginTurn(turnId, options.signal, async (live) => {
    const checked = checkHandle(decodeHandle(handle));
    const outgoing = outgoingMessage(message);
    live.knowHandle(checked.handle);
    const { root: stateDir } = await prepareStateDir(resolved.stateDir);
    const placed = { ...resolved, stateDir };
    const session = await resolveSession(checked, options.config, placed);
    const expectsLive = session.record.status !== 'closed';
    return runInSession({ session, message: outgoing, live, options: placed, expectsLive });
  });
}
