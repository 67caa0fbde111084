import { type CliUnderTest, readClisUnderTest } from '../../harness/cli-under-test.js';
import { listModelApiFixtures } from '../../harness/providers/model-apis.js';
import {
  type Attempt,
  countVerdicts,
  printAttempt,
  runWithRetry,
} from '../../harness/run-with-retry.js';
import { provePostStep } from './prove-post-step.js';
import {
  createApiWorkflowSubject,
  createCliWorkflowSubject,
  type WorkflowSubject,
} from './workflow-subject.js';

/** Which providers, and how the rows are run and printed. */
export interface BuilderCertificationOptions {
  readonly provider?: string | undefined;
  readonly 'cli-version'?: string | undefined;
  readonly jobs: string;
  readonly retry: string;
  readonly json: boolean;
}

/** One line of a run. */
interface BuilderRow {
  readonly id: 'CertPostStepWorkflow';
  readonly provider: string;
  readonly cliVersion: string;
  readonly layer: 'builder';
  readonly status: 'passed' | 'failed';
  readonly ms: number;
}

interface BuilderJob {
  readonly provider: string;
  readonly cliVersion: string;
  readonly createSubject: () => Promise<WorkflowSubject>;
}

/** Proves the post-step workflow under a whole builder, on every certified CLI and on one model API. */
export async function runBuilderCertifications(options: BuilderCertificationOptions) {
  const attempts = await runWithRetry(await listBuilderJobs(options), {
    width: Number(options.jobs),
    retry: options.retry,
    run: proveOnce,
    report: (attempt) => report(attempt, options.json),
  });
  return countVerdicts(attempts);
}

async function listBuilderJobs(
  options: BuilderCertificationOptions,
): Promise<readonly BuilderJob[]> {
  const [api] = listModelApiFixtures();
  const isOfApi = api && (options.provider === undefined || options.provider === api.provider);
  const isOfClis = options.provider === undefined || options.provider !== api?.provider;
  const clis: readonly CliUnderTest[] = isOfClis
    ? await readClisUnderTest({ provider: options.provider, cliVersion: options['cli-version'] })
    : [];
  return [
    ...clis.map((cli) => ({
      provider: cli.provider,
      cliVersion: cli.version,
      createSubject: () => createCliWorkflowSubject(cli),
    })),
    ...(isOfApi && options['cli-version'] === undefined
      ? [
          {
            provider: api.provider,
            cliVersion: 'api',
            createSubject: () => createApiWorkflowSubject(api),
          },
        ]
      : []),
  ];
}

async function proveOnce({ provider, cliVersion, createSubject }: BuilderJob) {
  const started = performance.now();
  const error = await findError(createSubject);
  const status = error === undefined ? 'passed' : 'failed';
  const ms = Math.round(performance.now() - started);
  const row: BuilderRow = {
    id: 'CertPostStepWorkflow',
    provider,
    cliVersion,
    layer: 'builder',
    status,
    ms,
  };
  return { row, error };
}

/** What the proof failed with, else what was left over after it: that would hide the cause. */
async function findError(createSubject: BuilderJob['createSubject']): Promise<unknown> {
  let error: unknown;
  try {
    await using subject = await createSubject();
    await provePostStep(subject).catch((reason: unknown) => {
      error = reason;
    });
  } catch (reason) {
    error ??= reason;
  }
  return error;
}

function report(attempt: Attempt<Awaited<ReturnType<typeof proveOnce>>>, isJson: boolean): void {
  const { row } = attempt.outcome;
  printAttempt(attempt, {
    title: `${row.provider} ${row.cliVersion} builder: ${row.id}`,
    seconds: row.ms / 1000,
    ...(isJson && { json: JSON.stringify(row) }),
    describe: (error) => (error instanceof Error ? (error.stack ?? error.message) : String(error)),
  });
}
