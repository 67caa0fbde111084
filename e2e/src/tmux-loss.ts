import { homedir } from 'node:os';
import { findProvider, listProviders } from '@holdfast/provider-core';
import { type CliUnderTest, readClisUnderTest } from './harness/cli-under-test.js';
import { endWithCount, readCommandLine } from './harness/command-line.js';
import { confirmOnTerminal, findOwnCli } from './harness/own-cli.js';
import { RealSubject } from './harness/real-subject.js';
import { isGoodReport, type LossReport, loseAndContinue } from './tmux-loss/loss-scenario.js';
import { runLive } from './tmux-loss/run-live.js';
import { selfTest } from './tmux-loss/self-test.js';

/**
 * Kills the tmux session between two turns and continues from a handle in a file. On the pinned CLIs with a scripted
 * model; `--live` on your own CLI and a private copy of your login; `--self-test` runs `--live` on a made-up home.
 */
const options = readCommandLine();
const passed: boolean[] = [];
if (options['self-test']) await runSelfTests();
else if (options.live) await runOnOwnClis();
else await runOnPinnedClis();

const failed = passed.filter((one) => !one).length;
if (options.json) process.exitCode = failed === 0 && passed.length > 0 ? 0 : 1;
else endWithCount({ passed: passed.length - failed, failed });

async function runOnPinnedClis(): Promise<void> {
  for (const cli of await readClis()) {
    const subject = await RealSubject.create({ cli, layer: 'provider-core' });
    try {
      tell(await loseAndContinue(subject, cli, true));
    } finally {
      await subject[Symbol.asyncDispose]();
    }
  }
}

async function runSelfTests(): Promise<void> {
  for (const cli of await readClis()) {
    for (const { name, passed: isPassed } of await selfTest(cli)) {
      passed.push(isPassed);
      console.log(`${isPassed ? 'ok    ' : 'FAILED'}  ${cli.provider} ${cli.version}: ${name}`);
    }
  }
}

async function runOnOwnClis(): Promise<void> {
  const providers = options.provider ? [options.provider] : listProviders();
  for (const provider of providers) {
    const definition = findProvider(provider);
    if (!definition) throw new Error(`There is no provider ${provider}.`);
    const cli = await findOwnCli(provider);
    const person = { home: homedir(), cliHome: process.env[definition.cliHome.variable] };
    const confirm = (notice: string) => confirmOnTerminal(notice, options.yes);
    const { report, changed } = await runLive({ cli, person, confirm, isScripted: false });
    if (!report) process.stderr.write('Nothing was sent.\n');
    for (const path of changed) process.stderr.write(`CHANGED  ${path}\n`);
    if (report) tell(report, changed.length === 0);
    else passed.push(false);
  }
}

function tell(report: LossReport, isHomeUnchanged = true): void {
  passed.push(isGoodReport(report) && isHomeUnchanged);
  console.log(JSON.stringify(report));
}

function readClis(): Promise<readonly CliUnderTest[]> {
  return readClisUnderTest({ provider: options.provider, cliVersion: options['cli-version'] });
}
