import { findProvider } from '@holdfast/provider-core';
import { listClaims } from '@holdfast/provider-core/certification';
import { configurationCases } from './cases/configuration.js';
import { deliveryCases } from './cases/delivery.js';
import { failureCases } from './cases/failures.js';
import type { CliInWay, KnownCase } from './cases/known-case.js';
import { lostHistoryCases } from './cases/lost-history.js';
import { ownerCases } from './cases/owners.js';
import { paneCases } from './cases/panes.js';
import { resumeIdentityCases } from './cases/resume-identity.js';
import { turnEndCases } from './cases/turn-ends.js';
import { type CliUnderTest, readClisUnderTest } from './harness/cli-under-test.js';
import { endWithCount, readCommandLine } from './harness/command-line.js';
import {
  type Attempt,
  countVerdicts,
  printAttempt,
  runWithRetry,
} from './harness/run-with-retry.js';

/** Forces the conditions of docs/cases.md that need a real CLI, one case a line. */
const CASE_LIMIT_MS = 240_000;
const cases: readonly KnownCase[] = [
  ...resumeIdentityCases,
  ...lostHistoryCases,
  ...paneCases,
  ...deliveryCases,
  ...turnEndCases,
  ...failureCases,
  ...ownerCases,
  ...configurationCases,
];

const options = readCommandLine();
const wanted = options.only?.split(',');
const clis = await readClisUnderTest({
  provider: options.provider,
  cliVersion: options['cli-version'],
});
const ways = options.way?.split(',');
const isCore = options.depth === 'core';
const jobs = clis
  .filter(isDeepEnough)
  .flatMap(listWays)
  .flatMap((cli) =>
    cases
      .filter(({ providers }) => providers?.includes(cli.provider) ?? true)
      .filter((one) => one.ways?.includes(cli.way) ?? true)
      .filter(({ name }) => wanted === undefined || wanted.some((part) => name.includes(part)))
      .map((one) => ({ cli, one })),
  );
const attempts = await runWithRetry(jobs, {
  width: Number(options.jobs),
  retry: options.retry,
  run: attempt,
  report,
});
const { flaky, ...count } = countVerdicts(attempts);
endWithCount({ ...count, ...(options.retry === '1' && { flaky }) });

/** `core`: the newest version of each CLI, in a terminal alone. */
function isDeepEnough(cli: CliUnderTest): boolean {
  return !isCore || clis.findLast(({ provider }) => provider === cli.provider) === cli;
}

function listWays(cli: CliUnderTest): readonly CliInWay[] {
  const definition = findProvider(cli.provider);
  if (!definition) throw new Error(`provider-core has no provider ${cli.provider}.`);
  return listClaims(definition, cli.version)
    .filter(({ way }) => ways?.includes(way) ?? (!isCore || way === 'tmux'))
    .map(({ way }) => ({ ...cli, way }));
}

interface CaseOutcome {
  readonly cli: CliInWay;
  readonly one: KnownCase;
  readonly seconds: number;
  readonly error: unknown;
}

async function attempt({ cli, one }: Pick<CaseOutcome, 'cli' | 'one'>): Promise<CaseOutcome> {
  const startedAt = performance.now();
  const error = await withinLimit(one.run(cli)).then(
    () => undefined,
    (reason: unknown) => reason ?? new Error('rejected'),
  );
  return { cli, one, seconds: (performance.now() - startedAt) / 1000, error };
}

function report(tried: Attempt<CaseOutcome>): void {
  const { outcome, attempts: tries, firstError } = tried;
  const { cli, one, error } = outcome;
  const { provider, version: cliVersion, way } = cli;
  const row = {
    provider,
    cliVersion,
    way,
    case: one.name,
    result: error === undefined ? 'passed' : 'failed',
    seconds: Number(outcome.seconds.toFixed(1)),
    ...(tries === 2 && { attempts: tries, firstError: describe(firstError) }),
  };
  printAttempt(tried, {
    title: `${provider} ${cliVersion}, ${way}: ${one.name}`,
    seconds: outcome.seconds,
    ...(options.json && { json: JSON.stringify(row) }),
    describe,
  });
}

/** What the case found, and what its end found besides. */
function describe(error: unknown): string {
  const isPair = error instanceof Error && 'suppressed' in error && 'error' in error;
  return isPair ? `${describe(error.suppressed)}\n${describe(error.error)}` : String(error);
}

async function withinLimit(run: Promise<void>): Promise<void> {
  const limit = AbortSignal.timeout(CASE_LIMIT_MS);
  const late = new Promise<never>((_resolve, reject) =>
    limit.addEventListener('abort', () =>
      reject(new Error(`It did not end within ${CASE_LIMIT_MS} ms.`)),
    ),
  );
  await Promise.race([run, late]);
}
