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
import { runJobs } from './harness/run-jobs.js';

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
const outcomes = await runJobs(jobs, Number(options.jobs), attempt);
const passed = outcomes.filter((isPassed) => isPassed).length;
endWithCount({ passed, failed: outcomes.length - passed });

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

async function attempt({ cli, one }: { readonly cli: CliInWay; readonly one: KnownCase }) {
  const startedAt = performance.now();
  const error = await withinLimit(one.run(cli)).then(
    () => undefined,
    (reason: unknown) => reason ?? new Error('rejected'),
  );
  report({ cli, one, seconds: (performance.now() - startedAt) / 1000, error });
  return error === undefined;
}

function report(outcome: {
  readonly cli: CliInWay;
  readonly one: KnownCase;
  readonly seconds: number;
  readonly error: unknown;
}): void {
  const { cli, one, error } = outcome;
  const seconds = Number(outcome.seconds.toFixed(1));
  const title = `${cli.provider} ${cli.version}, ${cli.way}: ${one.name}`;
  const result = error === undefined ? 'passed' : 'failed';
  const { provider, version: cliVersion, way } = cli;
  const row = { provider, cliVersion, way, case: one.name, result, seconds };
  console.log(
    options.json
      ? JSON.stringify(row)
      : `${error === undefined ? 'ok    ' : 'FAILED'}  ${title} (${seconds} s)`,
  );
  if (error !== undefined) process.stderr.write(`${title}: ${describe(error)}\n`);
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
