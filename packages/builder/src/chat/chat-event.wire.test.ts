import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { decodeChatEvent, encodeChatEvent } from './chat-event.wire.js';
import { foldChat } from './chat-view.js';

const lines = readFileSync(new URL('../__fixtures__/v1/events.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

describe('the log of a chat', () => {
  it('loads the golden file of version 1, and writes each line back as it was', () => {
    const events = lines.map((line) => decodeChatEvent(line, 'events.jsonl'));
    expect(events.map(encodeChatEvent)).toEqual(lines);
  });

  it('folds into what the chat is', () => {
    const view = foldChat(lines.map((line) => decodeChatEvent(line, 'events.jsonl')));
    expect(view).toMatchObject({
      chatId: 'chat-1',
      agent: 'coder',
      title: 'A codeword',
      status: 'closed',
      openedAt: '2026-01-02T03:04:05.000Z',
      updatedAt: '2026-01-02T03:04:13.000Z',
      legacy: { sessionId: 's-1', runtime: { resumeSupported: true } },
      turns: [
        { state: 'completed', answer: 'Noted.', usage: { inputTokens: 3, outputTokens: 2 } },
        { state: 'failed', error: { kind: 'rate_limited' } },
      ],
      terminals: { terminals: [{ terminalId: 't-1', state: 'previous' }] },
    });
    expect(view?.messages.map(({ text }) => text)).toEqual([
      'before',
      'then',
      'Remember heron.',
      'Noted.',
      'And now?',
    ]);
  });

  it('names the type of a line it cannot read', () => {
    expect(() => decodeChatEvent({ schema_version: 1, type: 'chat_starred' }, 'log')).toThrow(
      expect.objectContaining({ kind: 'state_unusable', reason: 'damaged' }),
    );
  });
});
