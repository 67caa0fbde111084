import type { ConversationMessage } from '../message.js';
import { digestMessage } from '../message.js';
import { deriveTurnId } from '../turn/turn-id.js';
import type { HeldMessage } from './session-history.js';

/** The next message to deliver, or where the given history leaves the session's. */
export type DeliveryPlan =
  | {
      readonly kind: 'deliver';
      /** Index into the given messages. */
      readonly index: number;
      readonly turnId: string;
      readonly isLast: boolean;
    }
  | { readonly kind: 'diverged'; readonly index: number };

/**
 * Compares a conversation with what the session holds and names the one message to deliver next.
 * Whoever runs it asks again afterwards, until the last message was delivered. An answer the caller
 * left out is no divergence; one that the session never gave is. Pure.
 */
export function planDelivery(
  messages: readonly ConversationMessage[],
  held: readonly HeldMessage[],
  callTurnId: string,
): DeliveryPlan {
  const given = messages.flatMap(toGiven);
  const match = matchPrefix(given, held);
  if (match.divergedAt !== undefined) return { kind: 'diverged', index: match.divergedAt };
  const next = given[match.given];
  if (next === undefined) return planRepeat(given, held, match, callTurnId, messages.length);
  if (match.given > 0 && match.openMessage) return deliver(messages, match.openMessage, callTurnId);
  if (next.role === 'assistant') return { kind: 'diverged', index: next.index };
  const later = given.slice(match.given).find((one) => one.role === 'assistant');
  if (later) return { kind: 'diverged', index: later.index };
  return deliver(messages, { index: next.index }, callTurnId);
}

interface GivenMessage {
  readonly role: 'user' | 'assistant';
  readonly digest: string;
  readonly index: number;
}

/** A system message is the agent's own setting and no part of the history. */
function toGiven({ role, content }: ConversationMessage, index: number): GivenMessage[] {
  return role === 'system' ? [] : [{ role, digest: digestMessage(role, content), index }];
}

interface PrefixMatch {
  /** How many given messages the session holds. */
  readonly given: number;
  /** How many held messages were passed. */
  readonly held: number;
  readonly divergedAt?: number;
  /** The last matched user message, where the outcome of its turn is not known. */
  readonly openMessage?: { readonly index: number; readonly turnId?: string | undefined };
}

function matchPrefix(given: readonly GivenMessage[], held: readonly HeldMessage[]): PrefixMatch {
  let at = 0;
  let passed = 0;
  let open: PrefixMatch['openMessage'];
  while (at < given.length && passed < held.length) {
    const [ours, theirs] = [given[at], held[passed]];
    if (!ours || !theirs) break;
    if (ours.role === theirs.role && ours.digest === theirs.digest) {
      if (ours.role === 'user') {
        open = theirs.state === 'open' ? { index: ours.index, turnId: theirs.turnId } : undefined;
      }
      at += 1;
      passed += 1;
    } else if (theirs.role === 'assistant' && ours.role === 'user' && at > 0) {
      passed += 1;
    } else {
      return { given: at, held: passed, divergedAt: ours.index };
    }
  }
  return { given: at, held: passed, ...(open ? { openMessage: open } : {}) };
}

/** All that was given is held already: the same call again, or a history that was cut. */
function planRepeat(
  given: readonly GivenMessage[],
  held: readonly HeldMessage[],
  match: PrefixMatch,
  callTurnId: string,
  end: number,
): DeliveryPlan {
  const last = given.at(-1);
  const lastHeld = held[match.held - 1];
  const unfinished = lastHeld?.state !== 'settled' && match.held === held.length;
  if (last?.role === 'user' && lastHeld?.turnId && (lastHeld.turnId === callTurnId || unfinished)) {
    return { kind: 'deliver', index: last.index, turnId: lastHeld.turnId, isLast: true };
  }
  return { kind: 'diverged', index: end };
}

function deliver(
  messages: readonly ConversationMessage[],
  { index, turnId }: { readonly index: number; readonly turnId?: string | undefined },
  callTurnId: string,
): DeliveryPlan {
  const isLast = index === messages.length - 1;
  const ownId = isLast ? callTurnId : deriveTurnId(callTurnId, index);
  return { kind: 'deliver', index, turnId: turnId ?? ownId, isLast };
}
