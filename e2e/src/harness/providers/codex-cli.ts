import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { shellToolCall, usageLimitReached } from '@holdfast/provider-core/certification';
import { copyPrivately } from '../copy-privately.js';
import { readJsonLines } from '../read-json-lines.js';
import { failureOf } from './failure-of.js';
import type { ProviderFixture } from './provider-fixture.js';

/** Codex CLI: one rollout a session, below `sessions/<year>/<month>/<day>/`. */
export const codexCli: ProviderFixture = {
  provider: 'codex-cli',
  model: 'gpt-5-codex',
  cliHomeName: '.codex',
  basePath: '/v1',
  env: {},
  prepareCliHome: async (cliHome, { workingDir }) => {
    await mkdir(cliHome, { recursive: true, mode: 0o700 });
    const lines = [
      'check_for_update_on_startup = false',
      `[projects.${JSON.stringify(workingDir)}]`,
      'trust_level = "trusted"',
    ];
    await writeFile(join(cliHome, 'config.toml'), `${lines.join('\n')}\n`);
  },
  findLogin: ({ home, cliHome }) => {
    const folder = cliHome ?? join(home, '.codex');
    return { files: [join(folder, 'auth.json')], watched: [folder] };
  },
  copyLogin: async ({ files: [login] }, cliHome, place) => {
    if (login) await copyPrivately(login, join(cliHome, 'auth.json'));
    await codexCli.prepareCliHome(cliHome, place);
  },
  madeUpHome: () => [
    ['.codex/auth.json', '{"OPENAI_API_KEY":"made-up"}'],
    ['.codex/config.toml', 'model = "made-up"\n'],
  ],
  shellCall: (command) => shellToolCall('openai-responses', command),
  mcpTool: (server, tool) => ({ namespace: `mcp__${server}`, name: tool }),
  writeCall: (path) => shellToolCall('openai-responses', `echo written > ${path}`),
  unattended: { toolPolicy: { permissions: 'full' } },
  askingCall: (path) => ({
    name: 'exec_command',
    input: {
      cmd: `touch ${path}`,
      sandbox_permissions: 'require_escalated',
      justification: 'The folder is outside of the sandbox.',
    },
  }),
  asking: { toolPolicy: { permissions: 'ask' } },
  questionCall: (question, labels) => ({
    name: 'request_user_input',
    input: {
      questions: [
        {
          id: 'choice',
          header: 'Choice',
          question,
          options: labels.map((label) => ({ label, description: `Take ${label}.` })),
        },
      ],
    },
  }),
  backgroundCall: (command) => ({
    name: 'exec_command',
    input: { cmd: command, yield_time_ms: 500 },
  }),
  tellsReset: true,
  newerForm: 'is_rewritten',
  failure: (name) =>
    name === 'rate_limited'
      ? usageLimitReached(new Date(Date.now() + 60 * 60 * 1_000))
      : failureOf('openai-responses', name),
  stopRetries: async (cliHome) => {
    const path = join(cliHome, 'config.toml');
    const lines = [
      await readFile(path, 'utf8'),
      '[model_providers.holdfast]',
      'request_max_retries = 0',
      'stream_max_retries = 0',
    ];
    await writeFile(path, `${lines.join('\n')}\n`);
  },
  compactingAt: async (cliHome, tokens) => {
    const path = join(cliHome, 'config.toml');
    // Before the first table: below it, the key would belong to that one.
    const line = `model_auto_compact_token_limit = ${tokens}`;
    await writeFile(path, `${line}\n${await readFile(path, 'utf8')}`);
    return {};
  },
  withoutRetries: {},
  forcedPage: {},
  readUserMessages: async (cliHome, nativeSessionId) => {
    const path = (await findRollouts(cliHome)).get(nativeSessionId);
    const lines: readonly RolloutLine[] = path === undefined ? [] : await readJsonLines(path);
    return lines.flatMap(({ type, payload }) => {
      const isMessage =
        type === 'event_msg' &&
        payload?.type === 'item_completed' &&
        payload.item?.type === 'UserMessage';
      if (!isMessage) return [];
      return [(payload?.item?.content ?? []).map(({ text }) => text ?? '').join('')];
    });
  },
  findRecords: findRollouts,
};

async function findRollouts(cliHome: string): Promise<ReadonlyMap<string, string>> {
  const sessions = join(cliHome, 'sessions');
  const entries = await readdir(sessions, { recursive: true }).catch(() => []);
  return new Map(
    entries.flatMap((entry) => {
      const id = /rollout-.*-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/.exec(
        entry,
      )?.[1];
      return id === undefined ? [] : [[id, join(sessions, entry)] as const];
    }),
  );
}

interface RolloutLine {
  readonly type?: string;
  readonly payload?: {
    readonly type?: string;
    readonly item?: {
      readonly type?: string;
      readonly content?: readonly { readonly text?: string }[];
    };
  };
}
