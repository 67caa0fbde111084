import assert from 'node:assert/strict';
import { access, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type HandleJson, scripted } from '@holdfast/provider-core/certification';
import type { CliUnderTest } from '../harness/cli-under-test.js';
import { RealSubject } from '../harness/real-subject.js';
import { addToState } from './claude-code-home.js';
import type { PageCase } from './page-case.js';
import { expectUntouchedPage } from './untouched-page.js';
import { wrapBinary } from './wrapped-binary.js';

const first = 'Remember the codeword heron.';
/** Long enough to be offered a summary of, and too short to be compacted at once. */
const second = scripted('Go on.', { text: 'Noted.', usage: { input: 160_000 } });
const question = 'What is the codeword?';
const HOURS_AGO_MS = 3 * 3_600_000;

/** What the vendor switches on from afar. From the second on: the newer versions', which also make the summary in advance. */
const switches = {
  tengu_gleaming_fair: true,
  tengu_gleaming_fair_reuse: true,
  tengu_sepia_moth: true,
  tengu_amber_packet: true,
};
/** Offers a summary that is yet to be made. The others offer only one that stands beside the transcript. */
const OLDER_VERSION = '2.1.197';

/** The page that offers a summary in place of an old, long session, switched on as its vendor does from afar. */
export const resumeFromSummary: readonly PageCase[] = [
  {
    name: 'B71: resume-from-summary page, forced on, is kept away',
    run: async (cli) => {
      await using subject = await createSubject(cli);
      const handle = await leaveOldSession(subject, cli);
      const { answer } = await subject.continue(handle, question);
      assert.match(answer, /heron/);
    },
  },
  {
    name: 'B71: resume-from-summary page, with our guard taken away, is blocked',
    run: async (cli) => {
      await using subject = await createSubject(cli);
      const handle = await leaveOldSession(subject, cli);
      await writeFile(unguarded(subject), '');
      const page = { dialog: 'resume_from_summary', says: /Resume from summary/i };
      await expectUntouchedPage(subject, subject.begin(handle, question), page);
    },
  },
];

/**
 * A CLI that asks its vendor for switches; it reaches nobody, for its proxy does not answer, and takes those that it
 * remembers. While a file stands, the guard we launch with is taken out.
 */
async function createSubject(cli: CliUnderTest): Promise<RealSubject> {
  const subject = await RealSubject.create({ cli, layer: 'provider-core' });
  await wrapBinary(subject, cli.binary, [
    'unset CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC',
    'export HTTPS_PROXY=http://127.0.0.1:9 HTTP_PROXY=http://127.0.0.1:9 NO_PROXY=127.0.0.1',
    `[ -e '${unguarded(subject)}' ] && unset CLAUDE_CODE_RESUME_THRESHOLD_MINUTES`,
  ]);
  await addToState(subject.cliHome, { cachedGrowthBookFeatures: switches });
  return subject;
}

function unguarded({ place }: RealSubject): string {
  return join(place.root, 'unguarded');
}

/** A session of hours ago, long enough to be offered a summary of. */
async function leaveOldSession(subject: RealSubject, cli: CliUnderTest): Promise<HandleJson> {
  const started = await subject.start(first);
  const { handle } = await subject.continue(started.handle, second);
  const records = await subject.fixture.findRecords(subject.cliHome);
  const path = records.get(subject.nativeSessionId(handle));
  assert.ok(path, 'the transcript of the session');
  if (cli.version !== OLDER_VERSION) await waitForSummary(subject, path);
  await subject.lose(handle, 'all_processes');
  await age(path);
  return handle;
}

async function waitForSummary(subject: RealSubject, transcript: string): Promise<void> {
  const summary = join(transcript.replace(/\.jsonl$/, ''), 'precompact.json');
  const isMade = () =>
    access(summary).then(
      () => true,
      () => false,
    );
  await subject.waitUntil('the summary that is made in advance', isMade);
}

async function age(transcript: string): Promise<void> {
  const aged = (await readFile(transcript, 'utf8')).replace(
    /"timestamp":"([^"]+)"/g,
    (_, at) => `"timestamp":"${new Date(Date.parse(at) - HOURS_AGO_MS).toISOString()}"`,
  );
  await writeFile(transcript, aged);
}
