import { describe, expect, it } from 'vitest';
import type { RecordEvent } from '../../spec/record-event.js';
import { keepLastEnds, TurnEnds } from './turn-ends.js';

const accepted: RecordEvent = { type: 'message_accepted', text: 'go', origin: 'user' };
const ended = (answer: string): RecordEvent => ({ type: 'turn_ended', answer, backgroundWork: 0 });
const spoken = (text: string): RecordEvent => ({ type: 'text', text, partial: false });
const interrupted: RecordEvent = { type: 'turn_interrupted' };

function follow() {
  const told: string[] = [];
  const ends = new TurnEnds(
    (event) => told.push(event.type === 'turn_ended' ? `ended ${event.answer}` : event.type),
    () => ({ backgroundWork: 0 }),
  );
  return { told, ends };
}

describe('TurnEnds', () => {
  it('tells an end once the process has called the turn over with that very row', () => {
    const { told, ends } = follow();
    ends.said('a');
    ends.take(ended('yes'), 'a');
    expect(told).toEqual([]);
    ends.over();
    expect(told).toEqual(['ended yes']);
  });

  it('waits for the row where the process is faster than its record', () => {
    const { told, ends } = follow();
    ends.said('a');
    ends.said('b');
    ends.over();
    ends.take(ended('only thought'), 'a');
    expect(told).toEqual([]);
    ends.take(spoken('yes'), 'b');
    ends.take(ended('yes'), 'b');
    expect(told).toEqual(['text', 'ended yes']);
  });

  it('does not take the first row of an answer for its end, however idle the process is', () => {
    const { told, ends } = follow();
    ends.said('b');
    ends.over();
    ends.idle(true);
    ends.take(ended('one'), 'a');
    ends.take(spoken('two'), 'b');
    ends.take(ended('one two'), 'b');
    expect(told).toEqual(['text', 'ended one two']);
  });

  it('tells a turn without an answer as failed, once', () => {
    const { told, ends } = follow();
    ends.over();
    expect(ends.told).toBe(0);
    ends.silent();
    expect([told, ends.told]).toEqual([['turn_failed'], 1]);
  });

  it('drops an end that more of the turn follows', () => {
    const { told, ends } = follow();
    ends.take(ended('first'), 'a');
    ends.take(spoken('second'), 'b');
    ends.take(ended('second'), 'b');
    ends.idle(true);
    expect(told).toEqual(['text', 'ended second']);
  });

  it('believes an idle process and a dead one, and a message that came after', () => {
    const idle = follow();
    idle.ends.take(ended('yes'), 'a');
    idle.ends.idle(true);
    const dead = follow();
    dead.ends.take(ended('yes'), 'a');
    dead.ends.gone();
    const next = follow();
    next.ends.take(ended('yes'), 'a');
    next.ends.take(accepted, 'b');
    expect([idle.told, dead.told, next.told]).toEqual([
      ['ended yes'],
      ['ended yes'],
      ['ended yes', 'message_accepted'],
    ]);
  });

  it('puts the cost, the work behind the turn and the session to the end', () => {
    const events: RecordEvent[] = [];
    const sessionUsage = { inputTokens: 9, outputTokens: 9 };
    const ends = new TurnEnds(
      (event) => events.push(event),
      () => ({ costUsd: 0.5, backgroundWork: 2, sessionUsage }),
    );
    const usage = { inputTokens: 1, outputTokens: 1 };
    ends.take({ type: 'turn_ended', answer: 'yes', backgroundWork: 0, usage }, 'a');
    ends.idle(true);
    expect(events).toEqual([
      {
        type: 'turn_ended',
        answer: 'yes',
        backgroundWork: 2,
        usage: { ...usage, costUsd: 0.5 },
        sessionUsage,
      },
    ]);
  });
});

describe('keepLastEnds', () => {
  it('keeps the last end of each turn, and none that the turn went on after', () => {
    const events = [accepted, ended('one'), spoken('more'), ended('two'), accepted, ended('cut')];
    expect(keepLastEnds([...events, spoken('more'), interrupted])).toEqual([
      accepted,
      spoken('more'),
      ended('two'),
      accepted,
      spoken('more'),
      interrupted,
    ]);
  });
});
