import { finishWhatIsOwed, type WorkflowDemoReport } from './demo/finish-what-is-owed.js';
import { type DemoReport, type Narrate, recallAfterLoss } from './demo/recall-after-loss.js';
import { type CliUnderTest, readClisUnderTest } from './harness/cli-under-test.js';
import { endWithCount, readCommandLine } from './harness/command-line.js';

const CHAT_INTRODUCTION = `A chat learns a codeword. Then its service and its terminal are killed, and a new
process asks for the codeword. Real CLIs, real tmux, a scripted model on loopback.
`;
const WORKFLOW_INTRODUCTION = `A step passes its validation and waits for the learning lock. Then its terminal and its
builder are killed, and a new builder finishes what is owed. Real CLIs, real tmux, a scripted model on loopback.
`;

/**
 * Shows that a chat outlives its service and its terminal, on the real CLIs: no account, no network, a scripted model on
 * this machine in place of the vendor's. `demo workflow` shows a workflow that finishes what it owes. `--json` prints one
 * object for each CLI.
 */
const [subject] = process.argv.slice(2).filter((arg) => !arg.startsWith('-'));
const isOfWorkflow = subject === 'workflow';
if (isOfWorkflow) process.argv.splice(process.argv.indexOf('workflow'), 1);
const options = readCommandLine();
const clis = await readClisUnderTest({
  provider: options.provider,
  cliVersion: options['cli-version'],
});
let failed = 0;
if (!options.json) console.log(isOfWorkflow ? WORKFLOW_INTRODUCTION : CHAT_INTRODUCTION);
for (const cli of clis) failed += (await show(cli)) ? 0 : 1;
if (options.json) process.exitCode = failed === 0 ? 0 : 1;
else endWithCount({ passed: clis.length - failed, failed });

async function show(cli: CliUnderTest): Promise<boolean> {
  const narrate = (what: string, text: string) => {
    if (!options.json) console.log(`  ${what.padEnd(10)} ${text}`);
  };
  if (!options.json) console.log(`${cli.provider} ${cli.version}`);
  try {
    const { report, isGood, summary } = isOfWorkflow
      ? await showWorkflow(cli, narrate)
      : await showChat(cli, narrate);
    if (options.json) console.log(JSON.stringify(report));
    else narrate(isGood ? 'held fast' : 'FAILED', `${summary}\n`);
    return isGood;
  } catch (error) {
    process.stderr.write(`${cli.provider} ${cli.version}: ${String(error)}\n`);
    return false;
  }
}

interface Shown {
  readonly report: DemoReport | WorkflowDemoReport;
  readonly isGood: boolean;
  readonly summary: string;
}

async function showChat(cli: CliUnderTest, narrate: Narrate): Promise<Shown> {
  const report = await recallAfterLoss(cli, narrate);
  const { recalled, messagesSentOnResume, sameNativeSession, recoveryMs } = report;
  const session = sameNativeSession ? 'the same session' : 'ANOTHER SESSION';
  const seconds = (recoveryMs / 1000).toFixed(1);
  return {
    report,
    isGood: recalled && messagesSentOnResume === 1 && sameNativeSession,
    summary: `${session}, ${messagesSentOnResume} message sent on resume, back after ${seconds} s`,
  };
}

async function showWorkflow(cli: CliUnderTest, narrate: Narrate): Promise<Shown> {
  const report = await finishWhatIsOwed(cli, narrate);
  const { outcome, messagesInSession, notifications, sameNativeSession } = report;
  const isOnce = messagesInSession.every((count) => count === 1);
  return {
    report,
    isGood:
      outcome === 'completed' &&
      report.reviewRecalled &&
      report.learningRecalled &&
      isOnce &&
      notifications === 2 &&
      sameNativeSession,
    summary: `${sameNativeSession ? 'the same session' : 'ANOTHER SESSION'}, each message ${messagesInSession.join('/')} times, ${notifications} notifications`,
  };
}
