import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type HandleJson, scripted } from '@holdfast/provider-core/certification';
import type { CliUnderTest } from '../harness/cli-under-test.js';
import { RealSubject } from '../harness/real-subject.js';
import { addToState } from './claude-code-home.js';
import type { PageCase } from './page-case.js';
import { expectUntouchedPage } from './untouched-page.js';
import { wrapBinary } from './wrapped-binary.js';

const first = scripted('Remember the codeword heron.', {
  text: 'Noted.',
  usage: { input: 150_000 },
});
const question = 'What is the codeword?';
const HOURS_AGO_MS = 3 * 3_600_000;

/** The page that offers a summary in place of an old, long session, switched on as its vendor does from afar. */
export const resumeFromSummary: readonly PageCase[] = [
  {
    name: 'resume-from-summary page, forced on, is kept away',
    run: async (cli) => {
      await using subject = await createSubject(cli);
      const handle = await leaveOldSession(subject);
      const turn = await subject.continue(handle, question);
      assert.match(turn.answer, /heron/);
    },
  },
  {
    name: 'resume-from-summary page, with our guard taken away, is blocked',
    run: async (cli) => {
      await using subject = await createSubject(cli);
      const handle = await leaveOldSession(subject);
      await writeFile(unguarded(subject), '');
      const page = { dialog: 'resume_from_summary', says: /Resume from summary/i };
      await expectUntouchedPage(subject, subject.begin(handle, question), page);
    },
  },
];

/**
 * What the switch needs: a CLI that asks its vendor for switches. It reaches nobody, by a proxy that does not answer,
 * and takes the ones it remembers. While a file stands, the guard we launch with is taken out.
 */
async function createSubject(cli: CliUnderTest): Promise<RealSubject> {
  const subject = await RealSubject.create({ cli, layer: 'provider-core' });
  await wrapBinary(subject, cli.binary, [
    'unset CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC',
    'export HTTPS_PROXY=http://127.0.0.1:9 HTTP_PROXY=http://127.0.0.1:9 NO_PROXY=127.0.0.1',
    `[ -e '${unguarded(subject)}' ] && unset CLAUDE_CODE_RESUME_THRESHOLD_MINUTES`,
  ]);
  return subject;
}

function unguarded({ place }: RealSubject): string {
  return join(place.root, 'unguarded');
}

/** A session of hours ago, long enough to be offered a summary of. */
async function leaveOldSession(subject: RealSubject): Promise<HandleJson> {
  const { handle } = await subject.start(first);
  await subject.lose(handle, 'all_processes');
  const records = await subject.fixture.findRecords(subject.cliHome);
  const path = records.get(subject.nativeSessionId(handle));
  assert.ok(path, 'the transcript of the session');
  const aged = (await readFile(path, 'utf8')).replace(
    /"timestamp":"([^"]+)"/g,
    (_, at) => `"timestamp":"${new Date(Date.parse(at) - HOURS_AGO_MS).toISOString()}"`,
  );
  await writeFile(path, aged);
  await addToState(subject.cliHome, {
    cachedGrowthBookFeatures: { tengu_gleaming_fair: true },
  });
  return handle;
}
