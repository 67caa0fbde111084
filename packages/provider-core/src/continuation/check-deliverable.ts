import { UndeliverableMessageError } from '../errors/turn-error.js';
import type { Session } from './session.js';

/** Refuses, before anything is typed or journaled, a text the transport cannot deliver exactly. */
export async function checkDeliverable(session: Session, text: string): Promise<void> {
  if (text === '') {
    throw new UndeliverableMessageError('empty', 'An empty message starts no turn.');
  }
  const refusal = await session.transport.findRefusal(session.context(), text);
  if (refusal) throw new UndeliverableMessageError(refusal.reason, refusal.detail);
}
