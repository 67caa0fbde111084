import { checkConversation, type HandleJson } from '@holdfast/provider-core/certification';
import { type BadInputCase, badInputCases } from './bad-input/bad-input-cases.js';
import { type CliUnderTest, readClisUnderTest } from './harness/cli-under-test.js';
import { endWithCount, readCommandLine } from './harness/command-line.js';
import { RealSubject } from './harness/real-subject.js';
import { runJobs } from './harness/run-jobs.js';

/** Gives bad input to a session of each CLI: each is a typed error that names the thing, and the session still works. */
const options = readCommandLine();
const clis = await readClisUnderTest({
  provider: options.provider,
  cliVersion: options['cli-version'],
});
const counts = await runJobs(clis, Number(options.jobs), runCases);
endWithCount({
  passed: counts.reduce((sum, { passed }) => sum + passed, 0),
  failed: counts.reduce((sum, { failed }) => sum + failed, 0),
});

async function runCases(cli: CliUnderTest) {
  const name = `${cli.provider} ${cli.version}`;
  const subject = await RealSubject.create({ cli, layer: 'provider-core' });
  const count = { passed: 0, failed: 0 };
  const attempt = async (title: string, act: () => Promise<unknown>) => {
    const error = await act().then(
      () => undefined,
      (reason: unknown) => reason ?? new Error('rejected'),
    );
    count[error === undefined ? 'passed' : 'failed'] += 1;
    console.log(`${error === undefined ? 'ok    ' : 'FAILED'}  ${name}: ${title}`);
    if (error !== undefined) process.stderr.write(`${name}: ${title}: ${String(error)}\n`);
  };
  const first = 'Remember the codeword heron.';
  const { handle } = await subject.start(first);
  for (const one of badInputCases) await attempt(one.name, () => runCase(subject, handle, one));
  await attempt('the session works after all of it', async () => {
    const last = await subject.continue(handle, 'What is the codeword?');
    const messages = [first, 'Say it once.', 'What is the codeword?'];
    await checkConversation(subject, last.handle, messages);
  });
  await attempt('nothing is left running', async () => subject[Symbol.asyncDispose]());
  return count;
}

async function runCase(subject: RealSubject, handle: HandleJson, one: BadInputCase) {
  const limit = AbortSignal.timeout(120_000);
  const late = new Promise<never>((_resolve, reject) =>
    limit.addEventListener('abort', () => reject(new Error('It did not end within 120 s.'))),
  );
  await Promise.race([one.run(subject, handle), late]);
}
