import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { TurnEvent } from '../spec/turn-event.js';
import { appendTurnEvent, followTurnEvents, readTurnEvents } from './turn-events.js';

async function eventsPath(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return join(dir, 'turns', 't1.events.jsonl');
}

function delta(sequence: number): TurnEvent {
  const at = '2026-01-01T00:00:00.000Z';
  return { type: 'text_delta', text: `ä${sequence}`, turnId: 't1', sequence, at };
}

const events = Array.from({ length: 500 }, (_, sequence) => delta(sequence));

describe('turn events', () => {
  it('are read back in the order of the calls, though nobody waited for one', async () => {
    const path = await eventsPath();
    await Promise.all(events.map((event) => appendTurnEvent(path, event)));
    expect(await readTurnEvents(path, 0)).toEqual(events);
  });

  it('B33: are read from a sequence on, zero included', async () => {
    const path = await eventsPath();
    expect(await readTurnEvents(path, 0)).toEqual([]);
    for (const event of events.slice(0, 4)) await appendTurnEvent(path, event);
    expect(await readTurnEvents(path, 3)).toEqual([delta(3)]);
    expect(await readTurnEvents(path, 0)).toHaveLength(4);
  });

  it('B33: are read from any position, the first included, of any log, an empty one included', async () => {
    const property = fc.asyncProperty(
      fc.nat({ max: 6 }),
      fc.nat({ max: 8 }),
      async (length, from) => {
        const path = await eventsPath();
        for (const event of events.slice(0, length)) await appendTurnEvent(path, event);
        expect(await readTurnEvents(path, from)).toEqual(events.slice(from, length));
      },
    );
    await fc.assert(property, { numRuns: 40 });
  });

  it('lose only the line that a crash tore', async () => {
    const path = await eventsPath();
    await appendTurnEvent(path, delta(0));
    await appendFile(path, '{"type":"text_del');
    await appendTurnEvent(path, delta(1));
    expect(await readTurnEvents(path, 0)).toEqual([delta(0), delta(1)]);
  });

  it('are followed at the pace of a slow reader, none lost', async () => {
    const path = await eventsPath();
    const stop = new AbortController();
    const seen: TurnEvent[] = [];
    const reading = (async () => {
      for await (const event of followTurnEvents(path, { from: 2, signal: stop.signal })) {
        seen.push(event);
        await new Promise(setImmediate);
        if (event.sequence === events.length - 1) stop.abort();
      }
    })();
    for (const event of events) await appendTurnEvent(path, event);
    await reading;
    expect(seen).toEqual(events.slice(2));
  });
});
