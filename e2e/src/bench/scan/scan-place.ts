import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { idOf, jobText, type StepPlace, stateText } from './scan-records.js';

/** A data directory of many finished steps and a few open ones. */
export interface ScanPlace extends AsyncDisposable {
  readonly dataDir: string;
  /** The files of the open steps: each one's job and its state. */
  readonly openFiles: readonly string[];
  /** There is one as soon as every state file was read once. */
  readonly walkedFile: string;
}

/** How many of each. */
export interface ScanSize {
  readonly finished: number;
  readonly open: number;
}

/** How many steps of the workflow are among the open ones; so few of them never stand in one group twice. */
export const OPEN_STEPS = 8;
const GROUPS = 20;
const STEPS = 100;

/** Writes it, without waiting for the disk: what is measured reads. */
export async function createScanPlace({ finished, open }: ScanSize): Promise<ScanPlace> {
  const dataDir = await mkdtemp(join(tmpdir(), 'hf-bench-'));
  const jobs = join(dataDir, 'engine', 'executions', 'jobs');
  mkdirSync(jobs, { recursive: true });
  writeFileSync(join(dataDir, 'FORMAT'), '1\n');
  for (let number = 0; number < finished; number++) {
    const place = placeOf(number, 'step');
    putState(dataDir, place, stateText(place, 'completed'));
  }
  const openFiles: string[] = [];
  for (let number = 0; number < open; number++) {
    // Spread over all of them.
    const place = placeOf(Math.floor((number * finished) / open), `open-${number % OPEN_STEPS}`);
    const job = join(jobs, `${idOf(place)}.json`);
    writeFileSync(job, jobText(place, number));
    openFiles.push(job, putState(dataDir, place, stateText(place, 'open')));
  }
  return {
    dataDir,
    openFiles,
    walkedFile: join(dataDir, 'engine', 'executions', 'walked.json'),
    [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true, force: true }),
  };
}

function placeOf(number: number, step: string): StepPlace {
  const group = Math.floor(number / STEPS);
  return {
    iteration: `iteration-${Math.floor(group / GROUPS)}`,
    group: `group-${group % GROUPS}`,
    step: step === 'step' ? `step-${number % STEPS}` : step,
  };
}

function putState(dataDir: string, { iteration, group, step }: StepPlace, text: string): string {
  const folder = join(dataDir, 'runs', iteration, group, 'logs', step);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'continuation_state.json');
  writeFileSync(path, text);
  return path;
}
