import { describe, expect, it } from 'vitest';
import { clipText, joinLines } from './clip-text.js';
import { createNotification, type EndOfExecution } from './create-notification.js';

const STATE = {
  executionId: '1~main~agent-0123456789ab',
  ownerKind: 'sub_agent',
  agent: 'researcher',
  stepId: 'agent-0123456789ab',
  answer: 'All is done.\n\nReally: it succeeded.',
  notify: { kind: 'chat', chatId: 'boss' },
} as const;

const end = (rest: Partial<EndOfExecution>): EndOfExecution => ({
  state: STATE,
  outcome: 'completed',
  at: '2026-01-02T03:04:05.000Z',
  ...rest,
});

describe('createNotification', () => {
  it('tells in one header line and one result line what completed', () => {
    expect(createNotification(end({}))).toEqual({
      notificationId: '1~main~agent-0123456789ab~completed',
      executionId: '1~main~agent-0123456789ab',
      outcome: 'completed',
      text: '[AUTO-NOTIFICATION] Sub-agent researcher completed (execution 1~main~agent-0123456789ab).\nResult: All is done. Really: it succeeded.',
      target: { kind: 'chat', chatId: 'boss' },
      at: '2026-01-02T03:04:05.000Z',
    });
  });

  it.each([
    ['failed', 'FAILED', 'Error: validation failed'],
    ['stopped', 'STOPPED', 'Reason: validation failed'],
  ] as const)('never shows the answer of a %s run as its result', (outcome, word, line) => {
    const { text, notificationId } = createNotification(
      end({ outcome, reason: 'validation\nfailed' }),
    );
    expect(notificationId).toMatch(new RegExp(`~${outcome}$`));
    expect(text).toContain(word);
    expect(text.split('\n')[1]).toBe(line);
    expect(text).not.toMatch(/succeeded|All is done| completed \(/);
  });

  it('says that nothing is known where nothing is', () => {
    const state = { ...STATE, answer: '\n ' };
    expect(createNotification(end({ state })).text).toMatch(/\nResult: \(no text\)$/);
    expect(createNotification(end({ outcome: 'failed' })).text).toMatch(/\nError: \(not known\)$/);
  });

  it('clips a long result between two characters', () => {
    const family = '👨‍👩‍👧‍👦';
    const { text } = createNotification(end({ state: { ...STATE, answer: family.repeat(400) } }));
    const result = text.split('\n')[1]?.slice('Result: '.length) ?? '';
    expect(result.length).toBeLessThanOrEqual(2000);
    expect(result).toBe(`${family.repeat(Math.floor(1999 / family.length))}…`);
  });
});

describe('clipText', () => {
  it('keeps what fits exactly and cuts what does not', () => {
    expect(clipText('abcde', 5)).toBe('abcde');
    expect(clipText('abcdef', 5)).toBe('abcd…');
    expect(clipText('abcd\u{1F600}', 5)).toBe('abcd…');
    expect(clipText('e\u0301'.repeat(3), 4)).toBe('e\u0301…');
  });

  it('replaces half a character and joins lines', () => {
    expect(clipText('a\ud800', 5)).toBe('a\ufffd');
    expect(joinLines(' a\r\n\tb\u2028c\u0007 ')).toBe('a b c');
  });
});
