import { listCodingAdapters } from '@holdfast/agent';
import { crashAtStep, type Recovery } from './coding-faults/crash-at-step.js';
import { crashPoints } from './coding-faults/crash-points.js';
import { readClisUnderTest } from './harness/cli-under-test.js';
import { endWithCount, readCommandLine } from './harness/command-line.js';
import { countVerdicts, printAttempt, runWithRetry } from './harness/run-with-retry.js';

/** Kills the worker of a coding job at each of its steps, for each adapter, on the newest of each CLI. `--only STEP,STEP`. */
const options = readCommandLine();
const wanted = options.only?.split(',');
const providers = new Set(listCodingAdapters().map(({ provider }) => provider));
const clis = await readClisUnderTest({ provider: options.provider });
const newest = clis.filter(
  (cli) =>
    providers.has(cli.provider) &&
    clis.findLast((other) => other.provider === cli.provider) === cli,
);
const jobs = newest.flatMap((cli) =>
  crashPoints
    .filter(({ step }) => wanted?.includes(step) ?? true)
    .map((point) => ({ cli, point, name: `${cli.provider} ${cli.version}: ${point.step}` })),
);

const attempts = await runWithRetry(jobs, {
  width: Number(options.jobs),
  retry: options.retry,
  run: async ({ cli, point, name }) => {
    const began = process.hrtime.bigint();
    const seconds = () => Number(process.hrtime.bigint() - began) / 1e9;
    try {
      const recovery: Recovery = await crashAtStep(cli, point);
      return { name: `${name}, ${recovery}`, seconds: seconds() };
    } catch (error) {
      return { name, seconds: seconds(), error };
    }
  },
  report: (attempt) => {
    const { name, seconds } = attempt.outcome;
    printAttempt(attempt, { title: name, seconds, describe });
  },
});
const { flaky, ...count } = countVerdicts(attempts);
endWithCount({ ...count, ...(options.retry === '1' && { flaky }) });

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
