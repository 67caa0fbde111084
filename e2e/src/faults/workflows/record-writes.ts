import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runWorkflowPlan, type WorkflowOutcome } from './run-workflow-plan.js';
import type { WorkflowDriver } from './workflow-subject.js';

/** What an undisturbed run of one driver showed. */
export interface Recording {
  readonly driver: WorkflowDriver;
  /** How often each named durable write was taken. */
  readonly writes: ReadonlyMap<string, number>;
  readonly outcome: WorkflowOutcome;
}

/** Runs the workflow once with nothing killed, and counts the durable writes that its service takes. */
export async function recordWrites(driver: WorkflowDriver): Promise<Recording> {
  const folder = await mkdtemp(join(tmpdir(), 'hf-'));
  try {
    const recordFile = join(folder, 'writes');
    const outcome = await runWorkflowPlan({ driver, cells: [], usualMs: 0, recordFile });
    const text = await readFile(recordFile, 'utf8').catch(() => '');
    const writes = new Map<string, number>();
    for (const point of text.split('\n').filter((line) => line !== '')) {
      writes.set(point, (writes.get(point) ?? 0) + 1);
    }
    return { driver, writes, outcome };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
