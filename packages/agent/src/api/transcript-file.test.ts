import { statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setFaultHook } from '@holdfast/provider-core/certification';
import { afterEach, describe, expect, it } from 'vitest';
import { ANSWER, createWorld, findFlaw, MESSAGE, TURN } from './__fixtures__/crash-world.js';

afterEach(() => setFaultHook(undefined));

const ASK = [{ role: 'user', content: MESSAGE }] as const;

/** A disk that takes the n-th line but for its last bytes, and then is full for a moment. */
function failAtAppend(path: string, place: number, lostBytes: number): void {
  let appends = 0;
  setFaultHook((step) => {
    if (step !== 'append:written') return;
    appends += 1;
    if (appends !== place) return;
    truncateSync(path, statSync(path).size - lostBytes);
    throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
  });
}

describe('a line that could not be written', () => {
  const places = [1, 2, 3, 4, 5, 6, 7, 8, 9].flatMap((place) => [
    { place, lostBytes: 7 },
    { place, lostBytes: 0 },
  ]);
  it.each(places)(
    '(line $place, less $lostBytes bytes) spoils nothing: the turn goes on',
    async (row) => {
      await using world = await createWorld([['look']], 'full');
      failAtAppend(join(world.stateDir, 'api', TURN, 'transcript.jsonl'), row.place, row.lostBytes);
      const agent = world.createAgent();
      const options = { turnId: TURN, onInterrupted: 'resume' } as const;
      await expect(agent.askWithHistory(ASK, options)).rejects.toMatchObject({
        kind: 'state_unusable',
        reason: 'full',
      });
      setFaultHook(undefined);
      const first = await agent.askWithHistory(ASK, options);
      expect(first.answer).toBe(ANSWER);
      // Another process reads it as it is: no half line was left in the middle.
      const later = world.createAgent();
      expect((await later.continueAgentSession(first.handle, 'and now?')).answer).toBe(ANSWER);
      expect(world.port.requests.map(findFlaw).filter(Boolean)).toEqual([]);
    },
  );
});
