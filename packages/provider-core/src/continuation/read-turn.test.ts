import { describe, expect, it } from 'vitest';
import type { RecordEvent } from '../spec/record-event.js';
import { readTurn } from './read-turn.js';

const ours = { text: 'Think it over.', turnId: 'a-turn' };

const accepted = (nativeTurnId: string, text = ours.text): RecordEvent => ({
  type: 'message_accepted',
  origin: 'user',
  text,
  nativeTurnId,
});

const ended = (nativeTurnId: string, answer: string): RecordEvent => ({
  type: 'turn_ended',
  answer,
  backgroundWork: 0,
  nativeTurnId,
});

describe('readTurn', () => {
  it('follows a message that the CLI takes in again on another branch', () => {
    const reading = readTurn(
      [
        accepted('cut-off'),
        { type: 'branch_abandoned' },
        accepted('again'),
        ended('again', 'thought over'),
      ],
      ours,
    );
    expect(reading).toMatchObject({ state: 'ended', ended: { answer: 'thought over' } });
    expect(reading.foreign).toBe(false);
  });

  it('leaves a turn abandoned when another message follows', () => {
    const events = [
      accepted('cut-off'),
      { type: 'branch_abandoned' } as const,
      accepted('else', 'Something else.'),
      ended('else', 'an answer'),
    ];
    expect(readTurn(events, ours)).toMatchObject({ state: 'abandoned', foreign: true });
  });

  it('remembers that a tool was called for our message, also over a new branch', () => {
    const tool = { type: 'tool_started', name: 'Bash', callId: 'one' } as const;
    const events = [accepted('one'), tool, { type: 'branch_abandoned' } as const, accepted('two')];
    expect(readTurn(events, ours)).toMatchObject({ state: 'open', usedTools: true });
    expect(readTurn([tool, accepted('one')], ours).usedTools).toBeUndefined();
  });

  it('B98: takes no end for ours that belongs to another native turn', () => {
    expect(readTurn([accepted('one'), ended('other', 'no')], ours).state).toBe('open');
  });
});
