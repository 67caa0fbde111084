import { type DemoReport, recallAfterLoss } from './demo/recall-after-loss.js';
import { type CliUnderTest, readClisUnderTest } from './harness/cli-under-test.js';
import { endWithCount, readCommandLine } from './harness/command-line.js';

/**
 * Shows that a chat outlives its service and its terminal, on the real CLIs: no account, no network, a scripted model on
 * this machine in place of the vendor's. `--json` prints one object for each CLI.
 */
const options = readCommandLine();
const clis = await readClisUnderTest({
  provider: options.provider,
  cliVersion: options['cli-version'],
});
let failed = 0;
if (!options.json) {
  console.log('A chat learns a codeword. Then its service and its terminal are killed, and a new');
  console.log(
    'process asks for the codeword. Real CLIs, real tmux, a scripted model on loopback.\n',
  );
}
for (const cli of clis) failed += (await show(cli)) ? 0 : 1;
if (options.json) process.exitCode = failed === 0 ? 0 : 1;
else endWithCount({ passed: clis.length - failed, failed });

async function show(cli: CliUnderTest): Promise<boolean> {
  const narrate = (what: string, text: string) => {
    if (!options.json) console.log(`  ${what.padEnd(10)} ${text}`);
  };
  if (!options.json) console.log(`${cli.provider} ${cli.version}`);
  try {
    const report = await recallAfterLoss(cli, narrate);
    if (options.json) console.log(JSON.stringify(report));
    else narrate(isGood(report) ? 'held fast' : 'FAILED', describe(report));
    if (!options.json) console.log('');
    return isGood(report);
  } catch (error) {
    process.stderr.write(`${cli.provider} ${cli.version}: ${String(error)}\n`);
    return false;
  }
}

function isGood({ recalled, messagesSentOnResume, sameNativeSession }: DemoReport): boolean {
  return recalled && messagesSentOnResume === 1 && sameNativeSession;
}

function describe({ messagesSentOnResume, sameNativeSession, recoveryMs }: DemoReport): string {
  const session = sameNativeSession ? 'the same session' : 'ANOTHER SESSION';
  const seconds = (recoveryMs / 1000).toFixed(1);
  return `${session}, ${messagesSentOnResume} message sent on resume, back after ${seconds} s`;
}
