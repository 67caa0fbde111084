import type { CodingProviderSessionHandle } from '../spec/provider-session-handle.js';
import { type CapturedTerminal, captureTerminal } from '../transports/tmux/capture-terminal.js';
import { findSession } from './inspect-session.js';
import { resolveTurnOptions, type TurnOptions } from './turn-options.js';

/**
 * What the session's terminal shows now, with what scrolled away above it: an observation for people, read-only.
 * `undefined` where there is no terminal of ours, or it cannot be seen.
 */
export async function captureSessionTerminal(
  handle: CodingProviderSessionHandle | Readonly<Record<string, unknown>> | string,
  options: Pick<TurnOptions, 'stateDir' | 'logger'> = {},
): Promise<CapturedTerminal | undefined> {
  const { session, isRecorded } = await findSession(handle, options);
  // Without a launch record nobody knows the nonce that marks our pane.
  if (!isRecorded) return undefined;
  const { tmuxSocket, nonce } = session.context();
  return captureTerminal({ tmuxSocket, nonce, logger: resolveTurnOptions(options).logger });
}
