import { describe, expect, it } from 'vitest';
import type { RecordEvent } from '../../spec/record-event.js';
import { orderCompactions } from './order-compactions.js';

const started = { type: 'compaction_started', compactionId: 'c' } as const;
const finished = { type: 'compaction_finished', compactionId: 'c' } as const;
const message = { type: 'message_accepted', text: 'hi', origin: 'user' } as const;
const ended = { type: 'turn_ended', answer: 'yes', backgroundWork: 0 } as const;

describe('a compaction', () => {
  it('before a message is told behind it, as a phase of its turn', () => {
    expect(order([started, finished], [message], [ended])).toEqual([
      message,
      started,
      finished,
      ended,
    ]);
  });

  it('in the middle of a turn is told where it stands', () => {
    expect(order([message], [started, finished], [ended])).toEqual([
      message,
      started,
      finished,
      ended,
    ]);
  });

  it('of a turn without a message is told before its end, and not with the next one', () => {
    expect(order([message], [ended], [started, finished], [ended], [message])).toEqual([
      message,
      ended,
      started,
      finished,
      ended,
      message,
    ]);
  });
});

function order(...lines: readonly (readonly RecordEvent[])[]): readonly RecordEvent[] {
  const inOrder = orderCompactions();
  return lines.flatMap((events) => inOrder(events));
}
