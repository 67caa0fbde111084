import { runJobs } from './run-jobs.js';

/** More than this many that failed are no accident: none of them is tried again. */
const MAX_FLAKY = 3;

/** What one run came to; `error` when it failed. */
export interface Outcome {
  readonly error?: unknown;
}

/** `again`: it failed and will be run once more. `flaky`: it failed, and then passed. The others are final. */
export type Verdict = 'passed' | 'again' | 'flaky' | 'failed';

/** One run of a job with what follows from it. */
export interface Attempt<Ran extends Outcome> {
  readonly outcome: Ran;
  readonly verdict: Verdict;
  readonly attempts: number;
  /** What the first run failed with. */
  readonly firstError?: unknown;
}

interface RetrySettings<Job, Ran extends Outcome> {
  readonly width: number;
  /** `1` runs once more what failed, at the very end and alone; `0` does not. */
  readonly retry: string;
  readonly run: (job: Job) => Promise<Ran>;
  readonly report: (attempt: Attempt<Ran>) => void;
}

/** Runs the jobs, then those that failed once more: one at a time, with nothing beside them. Tells every attempt as it ends. */
export async function runWithRetry<Job, Ran extends Outcome>(
  jobs: readonly Job[],
  { width, retry, run, report }: RetrySettings<Job, Ran>,
): Promise<readonly Attempt<Ran>[]> {
  const mayRetry = retry === '1';
  const tell = (attempt: Attempt<Ran>) => {
    report(attempt);
    return attempt;
  };
  const ran = await runJobs(jobs, width, async (job) => {
    const outcome = await run(job);
    const failed = mayRetry ? 'again' : 'failed';
    const verdict = outcome.error === undefined ? 'passed' : failed;
    return { job, ...tell({ outcome, verdict, attempts: 1 }) };
  });
  const again = ran.filter(({ verdict }) => verdict === 'again');
  const isTooMany = again.length > MAX_FLAKY;
  const last: Attempt<Ran>[] = ran.filter(({ verdict }) => verdict !== 'again');
  for (const { job, outcome: first } of again) {
    const outcome = isTooMany ? first : await run(job);
    const verdict = outcome.error === undefined ? 'flaky' : 'failed';
    const attempts = isTooMany ? 1 : 2;
    last.push(tell({ outcome, verdict, attempts, firstError: first.error }));
  }
  return last;
}

/** How many of each; what a second try passed is counted as passed, and told as flaky. */
export function countVerdicts(attempts: readonly Attempt<Outcome>[]) {
  const count = (wanted: Verdict) => attempts.filter(({ verdict }) => verdict === wanted).length;
  const flaky = count('flaky');
  return { passed: count('passed') + flaky, failed: count('failed'), flaky };
}

const words: Readonly<Record<Verdict, string>> = {
  passed: 'ok    ',
  again: 'again ',
  flaky: 'flaky ',
  failed: 'FAILED',
};

/** How an attempt is told: `title` names the job. */
export interface AttemptLine {
  readonly title: string;
  readonly seconds: number;
  /** A line of its own in place of the usual one; without a line only the error is told. */
  readonly json?: string | undefined;
  readonly describe?: (error: unknown) => string;
}

/** Prints the line of an attempt on stdout, and what it failed with on stderr. */
export function printAttempt(
  { verdict, outcome: { error } }: Attempt<Outcome>,
  { title, seconds, json, describe = String }: AttemptLine,
): void {
  const isOver = verdict !== 'again';
  const line = `${words[verdict]}  ${title} (${seconds.toFixed(1)} s)`;
  if (json === undefined) console.log(line);
  else if (isOver) console.log(json);
  if (error !== undefined) process.stderr.write(`${title}: ${describe(error)}\n`);
}
