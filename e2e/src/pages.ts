import { type CliUnderTest, readClisUnderTest } from './harness/cli-under-test.js';
import { endWithCount, readCommandLine } from './harness/command-line.js';
import { countVerdicts, printAttempt, runWithRetry } from './harness/run-with-retry.js';
import { claudeCodePages } from './pages/claude-code-pages.js';
import { codexCliPages } from './pages/codex-cli-pages.js';
import { compactions } from './pages/compactions.js';
import type { PageCase } from './pages/page-case.js';

/** Brings up every page a CLI is known for, on the real binary: avoided, answered by leave, or `blocked` untouched. */
const CASE_LIMIT_MS = 180_000;
const casesByProvider: ReadonlyMap<string, readonly PageCase[]> = new Map([
  ['claude-code', claudeCodePages],
  ['codex-cli', codexCliPages],
]);

const options = readCommandLine();
const clis = await readClisUnderTest({
  provider: options.provider,
  cliVersion: options['cli-version'],
});
const jobs = clis.flatMap((cli) =>
  [...compactions, ...(casesByProvider.get(cli.provider) ?? [])]
    .filter(({ name }) => options.only === undefined || name.includes(options.only))
    .map((one) => ({ cli, one })),
);
const attempts = await runWithRetry(jobs, {
  width: Number(options.jobs),
  retry: options.retry,
  run: attempt,
  report: (one) => printAttempt(one, one.outcome),
});
const { flaky, ...count } = countVerdicts(attempts);
endWithCount({ ...count, ...(options.retry === '1' && { flaky }) });

async function attempt({ cli, one }: { readonly cli: CliUnderTest; readonly one: PageCase }) {
  const startedAt = performance.now();
  const error = await withinLimit(one.run(cli)).then(
    () => undefined,
    (reason: unknown) => reason ?? new Error('rejected'),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  return { title: `${cli.provider} ${cli.version}: ${one.name}`, seconds, error };
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
