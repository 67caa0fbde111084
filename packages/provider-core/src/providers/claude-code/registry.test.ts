import { describe, expect, it } from 'vitest';
import { readRegistry } from './registry.js';

const entry = { pid: 7, sessionId: 's1', procStart: '90425', status: 'idle' };

describe('readRegistry', () => {
  it.each([
    ['idle', 'idle'],
    ['shell', 'idle'],
    ['busy', 'busy'],
    ['waiting', 'waiting'],
    ['something new', 'unknown'],
  ])('takes the status %s for %s', (status, activity) => {
    expect(readRegistry({ ...entry, status })).toMatchObject({ activity, nativeSessionId: 's1' });
  });

  it('B88: knows that a command goes on behind the turn', () => {
    expect(readRegistry({ ...entry, status: 'shell' })?.hasBackgroundCommands).toBe(true);
    expect(readRegistry(entry)?.hasBackgroundCommands).toBe(false);
  });

  it('finds no session in the file that stands there before the start-up pages are past', () => {
    expect(readRegistry({ peerToken: 'x', procStart: '90876' })).toBeUndefined();
    expect(readRegistry(undefined)).toBeUndefined();
  });
});
