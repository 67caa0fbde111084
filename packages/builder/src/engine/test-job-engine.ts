import type { TestRunner } from '../persistence/test-store.js';
import { cancelCases } from './job-engine-cases/cancel-cases.js';
import { crashCases } from './job-engine-cases/crash-cases.js';
import { enqueueCases } from './job-engine-cases/enqueue-cases.js';
import type { JobEngineCase, JobEngineSubject } from './job-engine-cases/job-engine-subject.js';
import { outcomeCases } from './job-engine-cases/outcome-cases.js';
import { stopCases } from './job-engine-cases/stop-cases.js';
import { wakeCases } from './job-engine-cases/wake-cases.js';

export { holdJobs } from './job-engine-cases/hold-jobs.js';
export type {
  JobEngineCase,
  JobEngineSubject,
  JobHolder,
} from './job-engine-cases/job-engine-subject.js';

/** What every job engine must do, one sentence of the port each. */
export const jobEngineCases: readonly JobEngineCase[] = [
  ...enqueueCases,
  ...outcomeCases,
  ...wakeCases,
  ...cancelCases,
  ...crashCases,
  ...stopCases,
];

/** Registers one test for every promise of `JobEngine`. Each gets a subject of its own, on jobs of its own. */
export function testJobEngine(
  { describe, it }: TestRunner,
  createSubject: () => Promise<JobEngineSubject>,
): void {
  describe('JobEngine', () => {
    for (const { title, prove } of jobEngineCases) {
      it(title, async () => {
        await using subject = await createSubject();
        await prove(subject);
      });
    }
  });
}
