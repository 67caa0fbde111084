import assert from 'node:assert/strict';
import { checkConversation, type HandleJson } from '@holdfast/provider-core/certification';
import type { CliUnderTest } from '../harness/cli-under-test.js';
import type { ProviderFixture } from '../harness/providers/provider-fixture.js';
import { RealSubject } from '../harness/real-subject.js';
import { homeWith, untrustedHome } from './claude-code-home.js';
import type { PageCase } from './page-case.js';
import { resumeFromSummary } from './resume-from-summary.js';
import { expectUntouchedPage } from './untouched-page.js';

const hello = 'Remember the codeword heron.';

/** Claude Code's pages. None for an update is among them: with `DISABLE_AUTOUPDATER`, none was ever seen. */
export const claudeCodePages: readonly PageCase[] = [
  {
    name: 'B72: trust page without leave is blocked',
    run: (cli) =>
      blocked(cli, { prepareCliHome: untrustedHome, dialog: 'trust', says: /trust/i, config: {} }),
  },
  {
    name: 'trust page with leave is answered',
    run: (cli) =>
      avoided(cli, { prepareCliHome: untrustedHome, config: { trustWorkingDir: true } }),
  },
  {
    name: 'API key page is blocked',
    run: (cli) =>
      blocked(cli, {
        dialog: 'api_key',
        says: /Detected a custom API key/,
        config: { env: { ANTHROPIC_API_KEY: 'sk-ant-made-up-loopback-0000' } },
        withoutEndpointKey: true,
      }),
  },
  {
    name: 'API key page does not come for the key of the endpoint',
    run: (cli) => avoided(cli, { config: {} }),
  },
  {
    name: 'renderer page, forced on, moves no session',
    run: forcedRenderer,
  },
  {
    name: 'settings error page is blocked',
    run: (cli) =>
      blocked(cli, {
        prepareCliHome: homeWith(() => ({ 'settings.json': '{"permissions":{"allow":5}}' })),
        dialog: 'settings_error',
        says: /Settings Error/,
        config: {},
      }),
  },
  { name: 'page that our list does not know is blocked', run: leftOpenPicker },
  ...resumeFromSummary,
];

interface PageSetting {
  readonly prepareCliHome?: ProviderFixture['prepareCliHome'];
  readonly config: HandleJson;
  /** The endpoint's key keeps the page for another key away. */
  readonly withoutEndpointKey?: boolean;
}

interface BlockedPage extends PageSetting {
  readonly dialog: string;
  readonly says: RegExp;
}

async function blocked(cli: CliUnderTest, page: BlockedPage): Promise<void> {
  await using subject = await createSubject(cli, page);
  const { baseUrl } = subject.lifetime;
  const config = page.withoutEndpointKey ? { ...page.config, endpoint: { baseUrl } } : page.config;
  await expectUntouchedPage(subject, subject.begin(undefined, hello, { config }), page);
}

async function avoided(cli: CliUnderTest, page: PageSetting): Promise<void> {
  await using subject = await createSubject(cli, page);
  const { handle } = await subject.start(hello, { config: page.config });
  await checkConversation(subject, handle, [hello]);
}

async function forcedRenderer(cli: CliUnderTest): Promise<void> {
  await using subject = await createSubject(cli, {});
  const turn = subject.begin(undefined, hello, { config: subject.forcedPage });
  const outcome = await turn.finished.catch((error: unknown) => error);
  const handle = await turn.handle;
  const isBlocked = outcome instanceof Error && 'dialog' in outcome;
  assert.deepEqual(
    await subject.nativeSessions(),
    isBlocked ? [] : [subject.nativeSessionId(handle)],
    `sessions after ${String(outcome)}`,
  );
  if (!isBlocked) return checkConversation(subject, handle, [hello]);
  assert.equal(outcome.dialog, 'renderer');
  assert.equal(subject.modelRequests().length, 0, 'requests behind a page');
}

/** A page that a person opened by a command and left: it stands over the composer, and the CLI takes no message. */
async function leftOpenPicker(cli: CliUnderTest): Promise<void> {
  await using subject = await createSubject(cli, {});
  const { handle } = await subject.start(hello);
  await subject.sendOnceShown(handle, '❯', '/model');
  const isOpen = async () => /Select model/.test(await subject.screen(handle));
  await subject.waitUntil('the page', isOpen);
  const page = { dialog: 'unknown', says: /Select model/ };
  await expectUntouchedPage(subject, subject.begin(handle, 'What is the codeword?'), page);
}

function createSubject(
  cli: CliUnderTest,
  { prepareCliHome }: Partial<PageSetting>,
): Promise<RealSubject> {
  return RealSubject.create({ cli, layer: 'provider-core', prepareCliHome });
}
