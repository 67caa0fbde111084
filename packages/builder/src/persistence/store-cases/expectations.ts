import assert from 'node:assert/strict';
import { isTurnError, systemClock } from '@holdfast/agent';

/** How long anything may take that must happen. Only a store that fails needs it. */
const LIMIT_MS = 20_000;

/** All entries of a log that ends. */
export async function collect(entries: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const entry of entries) all.push(entry);
  return all;
}

/** Checks that a promise is rejected as `session_busy`. */
export async function rejectsAsBusy(promise: Promise<unknown>): Promise<void> {
  await assert.rejects(promise, (error) => isTurnError(error) && error.kind === 'session_busy');
}

/** Checks that an act fails with a TypeError whose message holds a text. */
export async function refuses(act: () => Promise<unknown>, text: string): Promise<void> {
  await assert.rejects(
    async () => await act(),
    (error) => error instanceof TypeError && error.message.includes(text),
  );
}

/** What a promise gives, or a failure once it has taken too long. */
export async function soon<Value>(promise: Promise<Value>, awaiting: string): Promise<Value> {
  const settled = new AbortController();
  const tooLate = systemClock.sleep(LIMIT_MS, settled.signal).then(
    () => assert.fail(`waited for ${awaiting}`),
    () => assert.fail('unreachable: settled'),
  );
  tooLate.catch(() => {});
  try {
    return await Promise.race([promise, tooLate]);
  } finally {
    settled.abort();
  }
}
