import { describe, expect, it } from 'vitest';
import { readSteerSign } from './steer-sign.js';

describe('readSteerSign', () => {
  it('sees that the CLI holds the text', () => {
    const row = { type: 'queue-operation', operation: 'enqueue', content: 'more' };
    expect(readSteerSign(row, 'more')).toBe('held');
    expect(readSteerSign(row, 'other')).toBeUndefined();
  });

  it('sees that the running turn took it in', () => {
    const attachment = { type: 'queued_command', prompt: 'more', commandMode: 'prompt' };
    expect(readSteerSign({ type: 'attachment', attachment }, 'more')).toBe('taken_in');
    expect(readSteerSign({ type: 'attachment', attachment }, 'mor')).toBeUndefined();
  });

  it('sees that it became a turn of its own', () => {
    const message = { role: 'user', content: 'more' };
    expect(readSteerSign({ type: 'user', message }, 'more')).toBe('own_turn');
    expect(readSteerSign({ type: 'user', message, isMeta: true }, 'more')).toBeUndefined();
  });

  it('reads nothing from the removal, which comes with both', () => {
    const row = { type: 'queue-operation', operation: 'remove', content: 'more' };
    expect(readSteerSign(row, 'more')).toBeUndefined();
  });
});
