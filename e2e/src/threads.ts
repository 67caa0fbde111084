import { homedir } from 'node:os';
import { listCodingAdapters } from '@holdfast/agent';
import { findProvider } from '@holdfast/provider-core';
import { readClisUnderTest } from './harness/cli-under-test.js';
import { endWithCount, readCommandLine } from './harness/command-line.js';
import { confirmOnTerminal, findOwnCli } from './harness/own-cli.js';
import type { StageCheck } from './threads/check.js';
import { runLiveThread } from './threads/live-thread.js';
import { runOnMadeUpHome } from './threads/made-up-home.js';
import { listNewest, listPairs, namePair } from './threads/pairs.js';
import { refuseAndRecover } from './threads/refuse-and-recover.js';
import { runStageLoop } from './threads/run-stage-loop.js';

/**
 * Coding threads on the real CLIs with a scripted model: what is refused, what a kill leaves, and a stage that the builder
 * drives by itself. `demo threads` shows the diagram of two stages, job by job. `--live` has two turns done by your own CLI
 * with a private copy of your login; `--self-test` runs that on a made-up home.
 */
const options = readCommandLine();
const counts = { passed: 0, failed: 0 };
if (options.live) await runOnOwnClis();
else await runOnPinnedClis();
endWithCount(counts);

async function runOnPinnedClis(): Promise<void> {
  const { provider, 'cli-version': cliVersion } = options;
  const clis = await readClisUnderTest({ provider, cliVersion });
  for (const cli of listNewest(clis)) {
    const title = `${cli.provider} ${cli.version}`;
    await judge(`${title} with a login`, () => runOnMadeUpHome(cli));
    if (!options['self-test']) await judge(title, () => refuseAndRecover(cli));
  }
  if (options['self-test']) return;
  for (const pair of listPairs(clis)) await judge(namePair(pair), () => runStageLoop(pair));
}

async function runOnOwnClis(): Promise<void> {
  const found = listCodingAdapters().map(({ provider }): string => provider);
  for (const provider of options.provider ? [options.provider] : found) {
    const cli = await findOwnCli(provider);
    const variable = findProvider(provider)?.cliHome.variable ?? '';
    const person = { home: homedir(), cliHome: process.env[variable] };
    const confirm = (notice: string) => confirmOnTerminal(notice, options.yes);
    const run = () => runLiveThread({ cli, person, confirm, isScripted: false });
    await judge(`${provider} ${cli.version}`, run);
  }
}

async function judge(title: string, run: () => Promise<readonly StageCheck[]>): Promise<void> {
  try {
    for (const one of await run()) tell(title, one);
  } catch (error) {
    tell(title, { name: 'runs to its end', passed: false, seen: String(error) });
  }
}

function tell(title: string, { name, passed, seen }: StageCheck): void {
  counts[passed ? 'passed' : 'failed'] += 1;
  if (options.json) console.log(JSON.stringify({ title, name, passed, seen }));
  else
    console.log(`${passed ? 'ok    ' : 'FAILED'}  ${title}: ${name}${passed ? '' : ` (${seen})`}`);
}
