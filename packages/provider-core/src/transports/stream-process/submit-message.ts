import { SessionBusyError, UndeliverableMessageError } from '../../errors/turn-error.js';
import type { SubmitRequest } from '../session-transport.js';
import { type LiveStream, readState } from './live-stream.js';
import { writeLine } from './write-line.js';

/**
 * Writes the message. Its id is the turn's: the CLI runs no id twice, so that it may be written again when nobody knows
 * whether it was read. Where the process is gone, following it says so.
 */
export async function submitMessage(
  stream: LiveStream,
  { text, images, turnId, signal }: SubmitRequest,
): Promise<void> {
  const { way, context, fence, process } = stream;
  const { cliVersion } = context;
  const plan = way.planMessage({ id: turnId, text, images, cliVersion });
  if (plan.kind === 'refused') throw new UndeliverableMessageError(plan.reason, plan.detail);
  signal.throwIfAborted();
  const state = await readState(stream);
  if (!fence.isCurrent()) throw new SessionBusyError({ kind: 'ours' });
  if ((await writeLine(context, process, plan.line, { signal })) === 'written') state.noteSent();
}
