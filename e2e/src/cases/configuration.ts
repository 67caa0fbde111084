import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  checkConversation,
  expectError,
  type HandleJson,
  scripted,
} from '@holdfast/provider-core/certification';
import { execa } from 'execa';
import { type CliInWay, createSubject, hello, type KnownCase, question } from './known-case.js';
import { killWorkingProcess } from './session-process.js';
import { switchCli } from './switched-cli.js';

/** What surrounds a session: its environment, its helpers, its home, and what it counts. */
export const configurationCases: readonly KnownCase[] = [
  {
    name: "B75, B77, B81: nothing of the service's own environment reaches the CLI, its marks of nesting included",
    run: scrubsEnvironment,
  },
  {
    name: 'B13: a resume uses only flags that its verb takes, by the word of the installed binary',
    providers: ['codex-cli'],
    ways: ['per_turn'],
    run: asksForFlags,
  },
  {
    name: 'B119: other MCP servers are not given to a living session, which goes on as it was',
    run: changesLivingServers,
  },
  {
    name: 'B29: a model provider that is gone from the settings stops the resume, typed, until it is back',
    providers: ['codex-cli'],
    run: losesModelProvider,
  },
  {
    name: 'B84: an MCP server that ignores its end dies with its session, and with the next resume',
    // With a process for each turn it dies with its turn.
    ways: ['tmux', 'structured'],
    run: reapsStubbornServer,
  },
  {
    name: 'B49: sessions that start at once in one home leave its settings whole',
    run: startsManyAtOnce,
  },
  {
    name: 'B121: a turn counts its own tokens alone, right after a resume too',
    run: countsTokens,
  },
];

const marks = [
  'CLAUDECODE',
  'CLAUDE_CODE_ENTRYPOINT',
  'CLAUDE_CODE_SSE_PORT',
  'CLAUDE_CODE_SESSION_ID',
  'CODEX_SANDBOX',
  'CODEX_SANDBOX_NETWORK_DISABLED',
  'CODEX_THREAD_ID',
  'ANTHROPIC_API_KEY',
  'OPENAI_API_KEY',
  'SOMEBODY_ELSES_SECRET',
];

const hanging = scripted('Take your time.', { text: 'time taken', delayMs: 4_000 });

async function scrubsEnvironment(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const leak = 'mark-of-another-account';
  const env = Object.fromEntries(marks.map((name) => [name, leak]));
  const { handle } = await subject.begin(undefined, hello, { env }).finished;
  const running = subject.begin(handle, hanging, { env });
  running.finished.catch(() => {});
  const isAsked = () => subject.modelRequests().length === 2;
  await subject.waitUntil('the request', isAsked);
  const seen = (await subject.livingProcesses()).filter(({ pid }) => pid !== running.pid);
  assert.ok(seen.length > 0, 'the processes of the session');
  for (const { command, environ } of seen) {
    assert.equal(environ.includes(leak), false, `the environment of ${command}`);
  }
  const turn = await running.finished;
  await checkConversation(subject, turn.handle, [hello, hanging]);
}

async function asksForFlags(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const { launches } = await switchCli(subject, cli.binary);
  const { handle } = await subject.start(hello, { config: subject.unattended });
  await subject.continue(handle, question);
  const resume = (await launches()).findLast((launch) => /^exec .* resume /.test(launch)) ?? '';
  const [before = '', after = ''] = resume.split(' resume ');
  const help = async (...args: readonly string[]) =>
    (await execa(cli.binary, [...args, '--help'], { env: { HOME: subject.place.home } })).stdout;
  checkFlags(before, await help('exec'));
  checkFlags(after, await help('exec', 'resume'));
}

function checkFlags(launch: string, help: string): void {
  const [options = ''] = launch.split(' -- ');
  const flags = options.split(' ').filter((word) => /^--?[a-zA-Z]/.test(word));
  assert.ok(flags.length > 0, `flags of ${launch}`);
  for (const flag of flags) {
    assert.match(help, new RegExp(`(^|[\\s,])${flag}\\b`, 'm'), `${flag} is taken there`);
  }
}

async function changesLivingServers(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const { config, toolName } = subject.mcpFixture;
  const { handle } = await subject.start(hello, { config });
  const { lantern } = config.mcpServers;
  const other = { mcpServers: { lantern, second: lantern } };
  await expectError(subject.continue(handle, question, { config: other }), 'stale_handle', {
    changedField: 'mcp_config',
  });
  const turn = await subject.continue(handle, question);
  await checkConversation(subject, turn.handle, [hello, question]);
  assert.match(subject.modelRequests().at(-1)?.bodyText ?? '', new RegExp(toolName));
}

async function losesModelProvider(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const settings = join(subject.cliHome, 'config.toml');
  const plain = await readFile(settings, 'utf8');
  const address = JSON.stringify(`${subject.lifetime.baseUrl}/v1`);
  const provider = `[model_providers.mine]\nname = "mine"\nbase_url = ${address}\nwire_api = "responses"\n`;
  const withProvider = `model_provider = "mine"\n${plain}${provider}`;
  await writeFile(settings, withProvider);
  const { handle } = await subject.start(hello, { config: { endpoint: undefined } });
  await subject.lose(handle, 'all_processes');
  await writeFile(settings, `model_provider = "mine"\n${plain}`);
  const failed = await subject.continue(handle, question).catch((error: unknown) => error);
  assert.ok(failed instanceof Error && 'kind' in failed, `it ended as ${JSON.stringify(failed)}`);
  assert.match(failed.message, /mine/, 'the provider that is named');
  assert.equal(subject.modelRequests().length, 1, 'requests elsewhere');
  await writeFile(settings, withProvider);
  const turn = await subject.continue(handle, question);
  await checkConversation(subject, turn.handle, [hello, question]);
}

/** Its shell neither ends with its input nor by a polite signal. */
async function reapsStubbornServer(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const { lantern } = subject.mcpFixture.config.mcpServers;
  const fixture = [lantern.command, ...lantern.args].map((part) => `'${part}'`).join(' ');
  const stay = `trap '' TERM HUP INT; ${fixture}; while :; do tail -f /dev/null; done`;
  const config = { mcpServers: { lantern: { command: '/bin/sh', args: ['-c', stay] } } };
  const findServers = async () =>
    (await subject.livingProcesses()).filter(({ command }) =>
      command.includes('tail -f /dev/null'),
    );
  const { handle } = await subject.start(hello, { config });
  await subject.waitUntil('the server', async () => (await findServers()).length > 0);
  const first = new Set((await findServers()).map(({ pid }) => pid));
  await killWorkingProcess(subject, cli);
  const turn = await subject.continue(handle, question);
  await checkConversation(subject, turn.handle, [hello, question]);
  const left = (await findServers()).filter(({ pid }) => first.has(pid));
  assert.deepEqual(left, [], 'servers of the process that died');
  await subject.close(turn.handle);
  await subject.waitUntil('the end of the servers', async () => (await findServers()).length === 0);
}

const AT_ONCE = 6;

async function startsManyAtOnce(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const words = Array.from(
    { length: AT_ONCE },
    (_, index) => `Remember the codeword heron${index}.`,
  );
  const turns = await Promise.all(words.map((word) => subject.start(word)));
  for (const [index, { handle }] of turns.entries()) {
    assert.deepEqual(await subject.recordedMessages(handle), [words[index]]);
  }
  if (cli.provider !== 'claude-code') return;
  const settings: HandleJson = JSON.parse(
    await readFile(join(subject.cliHome, '.claude.json'), 'utf8'),
  );
  assert.equal(settings['hasCompletedOnboarding'], true, 'the settings of the home');
}

async function countsTokens(cli: CliInWay): Promise<void> {
  await using subject = await createSubject(cli);
  const first = scripted(hello, { text: 'one', usage: { input: 1_000, output: 100 } });
  const second = scripted(question, { text: 'two', usage: { input: 2_000, output: 30 } });
  const started = await subject.start(first);
  await subject.lose(started.handle, 'all_processes');
  const turn = await subject.continue(started.handle, second);
  assert.deepEqual(
    [readCounts(started), readCounts(turn)],
    [
      [1_000, 100],
      [2_000, 30],
    ],
  );
}

function readCounts(turn: unknown): readonly unknown[] {
  const { usage } = turn as { readonly usage?: HandleJson };
  return [usage?.['inputTokens'], usage?.['outputTokens']];
}
