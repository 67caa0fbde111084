import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runWorkflowPlan, type WorkflowOutcome } from './run-workflow-plan.js';
import type { WorkflowDriver } from './workflow-subject.js';

/** What an undisturbed run of one driver showed. */
export interface Recording {
  readonly driver: WorkflowDriver;
  /** The named durable writes that its service took, in order. */
  readonly writes: readonly string[];
  readonly outcome: WorkflowOutcome;
}

/** Runs the workflow once with nothing killed, and notes the durable writes that its service takes. */
export async function recordWrites(driver: WorkflowDriver): Promise<Recording> {
  const folder = await mkdtemp(join(tmpdir(), 'hf-'));
  try {
    const recordFile = join(folder, 'writes');
    const outcome = await runWorkflowPlan({ driver, cells: [], usualMs: 0, recordFile });
    const text = await readFile(recordFile, 'utf8').catch(() => '');
    const writes = text.split('\n').filter((line) => line !== '');
    return { driver, writes, outcome };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
