import { describe, expect, it } from 'vitest';
import { TurnNotes } from './turn-notes.js';

describe('what was told of a turn', () => {
  it('holds a compaction once, though the record tells all of it again', () => {
    const notes = new TurnNotes();
    const tell = (type: 'compaction_started' | 'compaction_finished', compactionId: string) =>
      notes.take({ type, compactionId }, false);

    expect([tell('compaction_started', 'a'), tell('compaction_finished', 'a')]).toEqual([
      true,
      true,
    ]);
    expect([tell('compaction_started', 'a'), tell('compaction_finished', 'a')]).toEqual([
      false,
      false,
    ]);
    expect(tell('compaction_started', 'b')).toBe(true);
  });

  it('holds the calls of the running turn, also after a text was put into it', () => {
    const notes = new TurnNotes();
    const accept = (nativeTurnId: string) =>
      notes.take({ type: 'message_accepted', text: '', origin: 'user', nativeTurnId }, true);
    const call = (callId: string) => notes.take({ type: 'tool_started', name: 't', callId }, true);

    accept('one');
    call('a');
    accept('one');
    call('b');
    expect([...notes.calls]).toEqual(['a', 'b']);
    accept('two');
    expect([...notes.calls]).toEqual([]);
  });

  it('knows a turn as ended by the record alone', () => {
    const notes = new TurnNotes();
    const end = { type: 'turn_ended', answer: '', backgroundWork: 0, nativeTurnId: 'one' } as const;

    notes.take(end, false);
    expect(notes.hasEnded('one')).toBe(false);
    notes.take(end, true);
    expect(notes.hasEnded('one')).toBe(true);
    expect(notes.hasEnded(undefined)).toBe(false);
  });
});
