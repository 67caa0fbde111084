import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkConversation } from '@holdfast/provider-core/certification';
import type { CliUnderTest } from '../harness/cli-under-test.js';
import type { ProviderFixture } from '../harness/providers/provider-fixture.js';
import { RealSubject } from '../harness/real-subject.js';
import type { PageCase } from './page-case.js';
import { readScreens } from './screens.js';
import { wrapBinary } from './wrapped-binary.js';

const hello = 'Remember the codeword heron.';
const question = 'What is the codeword?';
/** What Codex asks on its pages. */
const anyPage = /Update now|Trust (?:this|and)|directory to resume|^\s*› 1\. |enter continue/im;

type PrepareCliHome = ProviderFixture['prepareCliHome'];

/** Codex's pages stand in a pane that only shows: messages go by the socket, so that none of them can hold up a turn. */
export const codexCliPages: readonly PageCase[] = [
  {
    name: 'B72: update page does not come, though a newer version is known',
    run: async (cli) => {
      await using subject = await createSubject(cli, knowNewerVersion);
      await expectConversation(subject);
    },
  },
  {
    name: 'update page, with our guard taken away, holds up no turn',
    run: (cli) =>
      turnsGoOnBehindPage(cli, knowNewerVersion, [
        'for argument; do',
        '  shift',
        '  [ "$argument" = check_for_update_on_startup=false ] && argument=check_for_update_on_startup=true',
        '  set -- "$@" "$argument"',
        'done',
      ]),
  },
  {
    name: 'trust and directory pages do not come in a repository that nobody trusted',
    run: async (cli) => {
      await using subject = await createSubject(cli, untrustedRepository);
      await expectConversation(subject);
    },
  },
  {
    name: 'trust page, brought up by naming the folder to the pane, holds up no turn',
    run: (cli) =>
      turnsGoOnBehindPage(cli, untrustedRepository, [
        `[ "$1" = resume ] && shift && set -- resume -C "$(dirname "$0")/work" "$@"`,
      ]),
  },
];

const knowNewerVersion: PrepareCliHome = async (cliHome) => {
  await mkdir(cliHome, { recursive: true, mode: 0o700 });
  const known = {
    latest_version: '99.9.9',
    last_checked_at: new Date().toISOString(),
    dismissed_version: null,
  };
  await writeFile(join(cliHome, 'version.json'), JSON.stringify(known));
};

const untrustedRepository: PrepareCliHome = async (cliHome, { workingDir }) => {
  await mkdir(cliHome, { recursive: true, mode: 0o700 });
  await mkdir(join(workingDir, '.git', 'refs'), { recursive: true });
  await mkdir(join(workingDir, '.git', 'objects'));
  await writeFile(join(workingDir, '.git', 'HEAD'), 'ref: refs/heads/main\n');
};

/** Shows that the page is there to be kept away: it comes, nobody presses a key, and the turns go on behind it. */
async function turnsGoOnBehindPage(
  cli: CliUnderTest,
  prepareCliHome: PrepareCliHome,
  lines: readonly string[],
): Promise<void> {
  await using subject = await createSubject(cli, prepareCliHome);
  await wrapBinary(subject, cli.binary, lines);
  const { handle } = await subject.start(hello);
  const shown = async () => (await readScreens(subject)).some((screen) => anyPage.test(screen));
  await subject.waitUntil('the page', shown);
  const turn = await subject.continue(handle, question);
  await checkConversation(subject, turn.handle, [hello, question]);
  assert.ok(await shown(), 'the page still stands');
}

/** The conversation goes on over the loss of everything, and its pane shows it and no page, both times. */
async function expectConversation(subject: RealSubject): Promise<void> {
  const { handle } = await subject.start(hello);
  await expectShown(subject, hello);
  await subject.lose(handle, 'all_processes');
  const turn = await subject.continue(handle, question);
  await expectShown(subject, question);
  await checkConversation(subject, turn.handle, [hello, question]);
}

async function expectShown(subject: RealSubject, message: string): Promise<void> {
  let screens: readonly string[] = [];
  const isShown = async () => {
    screens = await readScreens(subject);
    return screens.some((screen) => screen.includes(message) || anyPage.test(screen));
  };
  await subject.waitUntil(`the pane to show "${message}"`, isShown).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${screens.join('\n')}`);
  });
  assert.doesNotMatch(screens.join('\n'), anyPage);
}

function createSubject(cli: CliUnderTest, prepareCliHome: PrepareCliHome): Promise<RealSubject> {
  // As npm's launcher says it: a CLI that does not know how it was installed offers no update on a page.
  const config = { env: { CODEX_MANAGED_BY_NPM: '1' } };
  return RealSubject.create({ cli, layer: 'provider-core', prepareCliHome, config });
}
