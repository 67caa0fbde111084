import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkConversation } from '@holdfast/provider-core/certification';
import type { CliUnderTest } from '../harness/cli-under-test.js';
import type { ProviderFixture } from '../harness/providers/provider-fixture.js';
import { RealSubject } from '../harness/real-subject.js';
import type { PageCase } from './page-case.js';
import { readScreens } from './screens.js';

const hello = 'Remember the codeword heron.';
const question = 'What is the codeword?';
/** What Codex asks on its pages. */
const anyPage = /Update now|Update available!|Do you trust|directory to resume|Press enter to/i;

/** Codex's pages stand in a pane that only shows: messages go by the socket, so that none of them can hold up a turn. */
export const codexCliPages: readonly PageCase[] = [
  {
    name: 'update page does not come, though a newer version is known',
    run: (cli) =>
      showsConversation(cli, async (cliHome) => {
        await mkdir(cliHome, { recursive: true, mode: 0o700 });
        const known = {
          latest_version: '99.9.9',
          last_checked_at: new Date().toISOString(),
          dismissed_version: null,
        };
        await writeFile(join(cliHome, 'version.json'), JSON.stringify(known));
      }),
  },
  {
    name: 'trust and directory pages do not come in a repository that nobody trusted',
    run: (cli) =>
      showsConversation(cli, async (cliHome, { workingDir }) => {
        await mkdir(cliHome, { recursive: true, mode: 0o700 });
        await mkdir(join(workingDir, '.git', 'refs'), { recursive: true });
        await mkdir(join(workingDir, '.git', 'objects'));
        await writeFile(join(workingDir, '.git', 'HEAD'), 'ref: refs/heads/main\n');
      }),
  },
];

/** The conversation goes on over the loss of everything, and its pane shows it and no page, both times. */
async function showsConversation(
  cli: CliUnderTest,
  prepareCliHome: ProviderFixture['prepareCliHome'],
): Promise<void> {
  await using subject = await RealSubject.create({ cli, layer: 'provider-core', prepareCliHome });
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
