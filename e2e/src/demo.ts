import { finishWhatIsOwed, type WorkflowDemoReport } from './demo/finish-what-is-owed.js';
import { keepThreads } from './demo/keep-threads.js';
import { type DemoReport, type Narrate, recallAfterLoss } from './demo/recall-after-loss.js';
import { writeHead, writeRow } from './demo/threads-table.js';
import { type CliUnderTest, readClisUnderTest } from './harness/cli-under-test.js';
import { endWithCount, readCommandLine } from './harness/command-line.js';
import { listPairs, namePair } from './threads/pairs.js';
import type { Pair } from './threads/thread-bench.js';

const CHAT_INTRODUCTION = `A chat learns a codeword. Then its service and its terminal are killed, and a new
process asks for the codeword. Real CLIs, real tmux, a scripted model on loopback.
`;
const WORKFLOW_INTRODUCTION = `A step passes its validation and waits for the learning lock. Then its terminal and its
builder are killed, and a new builder finishes what is owed. Real CLIs, real tmux, a scripted model on loopback.
`;

const THREADS_INTRODUCTION = `An implementer and a reviewer keep a conversation each over a stage: findings go back, the change
is accepted, both are closed, and the next stage begins anew. Each job runs in a process of its own, and each service is
killed after its job. Real CLIs, a scripted model on loopback.
`;

/**
 * Shows that a chat outlives its service and its terminal, on the real CLIs: no account, no network, a scripted model on
 * this machine in place of the vendor's. `demo workflow` shows a workflow that finishes what it owes, `demo threads` two
 * coding stages. `--json` prints one object for each CLI, or for each pair of CLIs.
 */
const SUBJECTS = { workflow: WORKFLOW_INTRODUCTION, threads: THREADS_INTRODUCTION };
const subject = process.argv.slice(2).find((arg) => arg === 'workflow' || arg === 'threads');
const isOfWorkflow = subject === 'workflow';
if (subject) process.argv.splice(process.argv.indexOf(subject), 1);
const options = readCommandLine();
const clis = await readClisUnderTest({
  provider: options.provider,
  cliVersion: options['cli-version'],
});
if (!options.json) console.log(subject ? SUBJECTS[subject] : CHAT_INTRODUCTION);
const shown: boolean[] = [];
if (subject === 'threads') for (const pair of listPairs(clis)) shown.push(await showThreads(pair));
else for (const cli of clis) shown.push(await show(cli));
const failed = shown.filter((isGood) => !isGood).length;
if (options.json) process.exitCode = failed === 0 && shown.length > 0 ? 0 : 1;
else endWithCount({ passed: shown.length - failed, failed });

async function showThreads(pair: Pair): Promise<boolean> {
  const print = (line: string) => {
    if (!options.json) console.log(line);
  };
  print(`${namePair(pair)}\n${writeHead()}`);
  try {
    const report = await keepThreads(pair, (row) => print(writeRow(row)));
    if (options.json) console.log(JSON.stringify(report));
    for (const { name, passed, seen } of report.checks) {
      print(`  ${passed ? 'holds  ' : 'FAILED '} ${name}${passed ? '' : `: ${seen}`}`);
    }
    const isGood = report.checks.every(({ passed }) => passed);
    print(`  ${isGood ? 'held fast' : 'FAILED'}\n`);
    return isGood;
  } catch (error) {
    process.stderr.write(`${namePair(pair)}: ${String(error)}\n`);
    return false;
  }
}

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
