import { leaseCases } from './store-cases/lease-cases.js';
import { logCases } from './store-cases/log-cases.js';
import { recordCases } from './store-cases/record-cases.js';
import type { StoreCase, StoreSubject } from './store-cases/store-subject.js';
import { textCases } from './store-cases/text-cases.js';

export type { StoreCase, StoreSubject } from './store-cases/store-subject.js';

/** The test runner's own two functions: vitest's, node:test's, or another's. */
export interface TestRunner {
  readonly describe: (title: string, body: () => void) => unknown;
  readonly it: (title: string, body: () => Promise<void>) => unknown;
}

/** What every store must do, one sentence of the port each. */
export const storeCases: readonly StoreCase[] = [
  ...recordCases,
  ...textCases,
  ...logCases,
  ...leaseCases,
];

/** Registers one test for every promise of `Store`. Each gets a subject of its own, on data of its own. */
export function testStore(
  { describe, it }: TestRunner,
  createSubject: () => Promise<StoreSubject>,
): void {
  describe('Store', () => {
    for (const { title, prove } of storeCases) {
      it(title, async () => {
        await using subject = await createSubject();
        await prove(subject);
      });
    }
  });
}
