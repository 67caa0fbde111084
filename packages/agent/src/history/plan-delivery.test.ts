import { describe, expect, it } from 'vitest';
import { type ConversationMessage, digestMessage } from '../message.js';
import { deriveTurnId } from '../turn/turn-id.js';
import { planDelivery } from './plan-delivery.js';
import { foldHistory, type HistoryLine } from './session-history.js';

const CALL = '00000000-0000-4000-8000-000000000001';
const EARLIER = '00000000-0000-4000-8000-000000000000';

const user = (content: string): ConversationMessage => ({ role: 'user', content });
const assistant = (content: string): ConversationMessage => ({ role: 'assistant', content });
const sent = (text: string, turnId: string): HistoryLine => ({
  type: 'sent',
  turnId,
  digest: digestMessage('user', text),
});
const answered = (text: string, turnId: string): HistoryLine => ({
  type: 'answered',
  turnId,
  digest: digestMessage('assistant', text),
});
const held = foldHistory([sent('one', EARLIER), answered('first', EARLIER)]);
const plan = (messages: readonly ConversationMessage[], lines = held) =>
  planDelivery(messages, lines, CALL);

describe('planDelivery', () => {
  it('delivers the last message under the id of the call when the rest is held', () => {
    expect(plan([user('one'), assistant('first'), user('two')])).toEqual({
      kind: 'deliver',
      index: 2,
      turnId: CALL,
      isLast: true,
    });
  });

  it('delivers an earlier undelivered message first, under an id derived from the call', () => {
    const messages = [user('one'), assistant('first'), user('two'), user('three')];
    expect(plan(messages)).toEqual({
      kind: 'deliver',
      index: 2,
      turnId: deriveTurnId(CALL, 2),
      isLast: false,
    });
  });

  it('takes an answer that the caller left out for no divergence', () => {
    expect(plan([user('one'), user('two')])).toMatchObject({ kind: 'deliver', index: 1 });
  });

  it('names the index of a message that was edited', () => {
    expect(plan([user('One'), assistant('first'), user('two')])).toEqual({
      kind: 'diverged',
      index: 0,
    });
  });

  it('names the index of an answer the session never gave', () => {
    expect(plan([user('one'), assistant('made up'), user('two')])).toEqual({
      kind: 'diverged',
      index: 1,
    });
    expect(
      plan([user('one'), assistant('first'), user('two'), assistant('made up'), user('three')]),
    ).toEqual({ kind: 'diverged', index: 3 });
  });

  it('takes a history that was cut for a divergence behind its end', () => {
    const more = foldHistory([
      sent('one', EARLIER),
      answered('first', EARLIER),
      sent('two', deriveTurnId(EARLIER, 1)),
      answered('second', deriveTurnId(EARLIER, 1)),
    ]);
    expect(plan([user('one')], more)).toEqual({ kind: 'diverged', index: 1 });
    expect(plan([user('one'), assistant('first'), user('three')], more)).toEqual({
      kind: 'diverged',
      index: 2,
    });
  });

  it('repeats a delivered turn when the call has its id', () => {
    expect(planDelivery([user('one')], held, EARLIER)).toEqual({
      kind: 'deliver',
      index: 0,
      turnId: EARLIER,
      isLast: true,
    });
  });

  it('settles a turn of unknown outcome before the next message', () => {
    const open = foldHistory([sent('one', EARLIER)]);
    expect(plan([user('one'), user('two')], open)).toEqual({
      kind: 'deliver',
      index: 0,
      turnId: EARLIER,
      isLast: false,
    });
    expect(plan([user('one'), assistant('first'), user('two')], open)).toMatchObject({
      index: 0,
      turnId: EARLIER,
    });
  });

  it('goes on with the turn of unknown outcome when only its message is given', () => {
    const open = foldHistory([sent('one', EARLIER)]);
    expect(plan([user('one')], open)).toMatchObject({ turnId: EARLIER, isLast: true });
  });

  it('does not settle again a turn that failed after it was taken in', () => {
    const failed = foldHistory([sent('one', EARLIER), { type: 'accepted', turnId: EARLIER }]);
    expect(plan([user('one'), user('two')], failed)).toMatchObject({ index: 1, turnId: CALL });
  });

  it('forgets a message that never came in', () => {
    const none = foldHistory([sent('one', EARLIER), { type: 'withdrawn', turnId: EARLIER }]);
    expect(none).toEqual([]);
    expect(plan([user('changed')], none)).toMatchObject({ index: 0, turnId: CALL });
  });

  it('leaves system messages out of the comparison', () => {
    const system: ConversationMessage = { role: 'system', content: 'Be brief.' };
    expect(plan([system, user('one'), assistant('first'), user('two')])).toMatchObject({
      kind: 'deliver',
      index: 3,
    });
  });
});

describe('foldHistory', () => {
  it('gives the same result when every line stands twice', () => {
    const lines = [sent('one', EARLIER), answered('first', EARLIER), sent('two', CALL)];
    expect(foldHistory(lines.flatMap((line) => [line, line]))).toEqual(foldHistory(lines));
  });

  it('keeps an answered turn when a late line withdraws it', () => {
    const lines: HistoryLine[] = [
      sent('one', EARLIER),
      answered('first', EARLIER),
      { type: 'withdrawn', turnId: EARLIER },
    ];
    expect(foldHistory(lines)).toEqual(held);
  });
});
