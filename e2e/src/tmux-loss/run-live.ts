import { mkdir } from 'node:fs/promises';
import type { HandleJson } from '@holdfast/provider-core/certification';
import type { CliUnderTest } from '../harness/cli-under-test.js';
import { getProviderFixture } from '../harness/providers/index.js';
import { RealSubject } from '../harness/real-subject.js';
import { findChanges, listHome } from './home-listing.js';
import { isGoodReport, type LossReport, loseAndContinue } from './loss-scenario.js';

/** A run on a person's own CLI and a private copy of their login. */
export interface LiveRun {
  readonly cli: CliUnderTest;
  /** The person's home folder, and what their CLI's own variable says of its home. */
  readonly person: { readonly home: string; readonly cliHome: string | undefined };
  /** Asked with everything that will be done, before anything is; only `true` goes on. */
  readonly confirm: (notice: string) => Promise<boolean>;
  /** A scripted model in place of the vendor's, for the self-test. */
  readonly isScripted: boolean;
}

/** What a live run came to. */
export interface LiveOutcome {
  readonly report: LossReport | undefined;
  readonly isGood: boolean;
  /** Paths of the person's own home that are not as they were. */
  readonly changed: readonly string[];
  /** How many requests reached the scripted model, when there is one. */
  readonly requests: number;
}

/** Says what it will do, asks, runs the scenario on a copy, and compares the original home with what it was. */
export async function runLive({ cli, person, confirm, isScripted }: LiveRun): Promise<LiveOutcome> {
  const fixture = getProviderFixture(cli.provider);
  const login = fixture.findLogin(person);
  if (!(await confirm(composeNotice(cli, login.files)))) {
    return { report: undefined, isGood: false, changed: [], requests: 0 };
  }
  const before = await listHome(login.watched);
  // The vendor's own address and default model, unless the model is scripted.
  const config: HandleJson = isScripted ? {} : { endpoint: undefined, model: undefined };
  const subject = await RealSubject.create({
    cli,
    layer: 'provider-core',
    config,
    prepareCliHome: async (cliHome, place) => {
      await mkdir(cliHome, { recursive: true, mode: 0o700 });
      await fixture.copyLogin(login, cliHome, place);
    },
  });
  let report: LossReport;
  let requests = 0;
  try {
    report = await loseAndContinue(subject, cli, isScripted);
    requests = subject.modelRequests().length;
  } finally {
    await subject[Symbol.asyncDispose]();
  }
  const changed = findChanges(before, await listHome(login.watched));
  return { report, isGood: isGoodReport(report) && changed.length === 0, changed, requests };
}

function composeNotice(cli: CliUnderTest, files: readonly string[]): string {
  return [
    `This runs your own ${cli.provider} (${cli.binary}) with a private copy of your login.`,
    'It sends two short messages to the vendor, on your account, and may cost you a few tokens.',
    `It copies ${files.join(' and ')} into a temporary folder that only you can read, and`,
    'removes that folder in the end. Your own files are read and never written; a listing with',
    'hashes is compared afterwards. If the CLI renews its login while it runs, the renewed login',
    'is in the copy, and you may have to sign in again in the original.',
  ].join('\n');
}
