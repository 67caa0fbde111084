import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { shellToolCall } from '@holdfast/provider-core/certification';
import { copyPrivately } from '../copy-privately.js';
import type { Place } from '../place.js';
import { readJsonLines } from '../read-json-lines.js';
import { failureOf } from './failure-of.js';
import type { ProviderFixture } from './provider-fixture.js';

/** Claude Code: one transcript a session, below `projects/<folder>/`. */
export const claudeCode: ProviderFixture = {
  provider: 'claude-code',
  model: 'claude-sonnet-4-5',
  cliHomeName: '.claude',
  basePath: '',
  env: {},
  prepareCliHome: async (cliHome, place) => {
    await mkdir(cliHome, { recursive: true, mode: 0o700 });
    await writeSettings(cliHome, place, {});
  },
  findLogin: ({ home, cliHome }) => {
    const folder = cliHome ?? join(home, '.claude');
    const settings = join(cliHome ?? home, '.claude.json');
    return { files: [join(folder, '.credentials.json'), settings], watched: [folder, settings] };
  },
  copyLogin: async ({ files: [credentials, settings] }, cliHome, place) => {
    if (credentials) await copyPrivately(credentials, join(cliHome, '.credentials.json'));
    const text = await readFile(settings ?? '', 'utf8').catch(() => '{}');
    const { oauthAccount, userID, customApiKeyResponses } = JSON.parse(text);
    await writeSettings(cliHome, place, { oauthAccount, userID, customApiKeyResponses });
  },
  madeUpHome: () => [
    ['.claude/.credentials.json', '{"claudeAiOauth":{"accessToken":"made-up"}}'],
    ['.claude.json', '{"hasCompletedOnboarding":true,"userID":"made-up"}'],
    ['.claude/projects/-work/old.jsonl', '{"type":"user"}'],
  ],
  shellCall: (command) => shellToolCall('anthropic-messages', command),
  mcpTool: (server, tool) => ({ name: `mcp__${server}__${tool}` }),
  writeCall: (path) => ({ name: 'Write', input: { file_path: path, content: 'written' } }),
  // Not `full`: the CLI refuses that to root.
  unattended: { toolPolicy: { permissions: 'edit', allow: ['Bash'] } },
  askingCall: (path) => shellToolCall('anthropic-messages', `touch ${path}`),
  asking: { toolPolicy: { permissions: 'ask' } },
  questionCall: (question, labels) => ({
    name: 'AskUserQuestion',
    input: {
      questions: [
        {
          question,
          header: 'Choice',
          multiSelect: false,
          options: labels.map((label) => ({ label, description: `Take ${label}.` })),
        },
      ],
    },
  }),
  backgroundCall: (command) => ({
    name: 'Bash',
    input: { command, description: 'Scripted background work', run_in_background: true },
  }),
  tellsReset: false,
  newerForm: 'says_so',
  failure: (name) =>
    name === 'rate_limited' ? usageLimit() : failureOf('anthropic-messages', name),
  stopRetries: async () => {},
  compactingAt: async (_cliHome, tokens) => ({
    env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: String(tokens) },
  }),
  withoutRetries: { env: { CLAUDE_CODE_MAX_RETRIES: '0' } },
  forcedPage: { env: { CLAUDE_CODE_FORCE_FULLSCREEN_UPSELL: '1' } },
  readUserMessages: async (cliHome, nativeSessionId) => {
    const path = (await findTranscripts(cliHome)).get(nativeSessionId);
    return path === undefined ? [] : readTyped(readActiveBranch(await readJsonLines(path)));
  },
  findRecords: findTranscripts,
};

/** A limit of a subscription: the CLI shows the vendor's text and keeps none of its headers. */
function usageLimit() {
  const endsAt = Math.floor(Date.now() / 1000) + 3_600;
  return { status: 429, errorMessage: `Claude AI usage limit reached|${endsAt}` };
}

async function writeSettings(
  cliHome: string,
  { workingDir }: Place,
  login: Readonly<Record<string, unknown>>,
): Promise<void> {
  const trusted = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
  const settings = {
    hasCompletedOnboarding: true,
    projects: { [workingDir]: trusted },
    ...login,
  };
  const path = join(cliHome, '.claude.json');
  await writeFile(path, JSON.stringify(settings), { mode: 0o600 });
}

async function findTranscripts(cliHome: string): Promise<ReadonlyMap<string, string>> {
  const projects = join(cliHome, 'projects');
  const entries = await readdir(projects, { recursive: true }).catch(() => []);
  const paths = entries
    .filter((entry) => /^[^/]+\/[0-9a-f-]{36}\.jsonl$/.test(entry))
    .map((entry) => join(projects, entry));
  const records = new Map<string, string>();
  for (const path of paths) {
    const lines = await readJsonLines<TranscriptLine>(path);
    // A file may hold nothing but the CLI's own notes; a conversation is what has a message.
    if (lines.some(({ type }) => type === 'user')) records.set(basename(path, '.jsonl'), path);
  }
  return records;
}

/** From the last record back to the first: what the CLI itself takes for the conversation. */
function readActiveBranch(lines: readonly TranscriptLine[]): readonly TranscriptLine[] {
  const byId = new Map(lines.flatMap((line) => (line.uuid ? [[line.uuid, line] as const] : [])));
  const branch: TranscriptLine[] = [];
  let line = lines.findLast(({ uuid, isSidechain }) => uuid !== undefined && !isSidechain);
  while (line) {
    branch.unshift(line);
    line = byId.get(line.parentUuid ?? '');
  }
  return branch;
}

/** What a person typed: no tool results, no meta records, no interruption marks. */
function readTyped(lines: readonly TranscriptLine[]): readonly string[] {
  return lines
    .filter(({ type, isMeta, isSidechain }) => type === 'user' && !isMeta && !isSidechain)
    .flatMap(({ message }) => {
      const content = message?.content;
      if (typeof content === 'string') return [content];
      if (!Array.isArray(content) || content.some((part) => part.type === 'tool_result')) return [];
      return content.flatMap(({ text }) => text ?? []);
    })
    .filter((text) => !text.startsWith('[Request interrupted by user'));
}

interface TranscriptLine {
  readonly uuid?: string;
  readonly parentUuid?: string | null;
  readonly type?: string;
  readonly isMeta?: boolean;
  readonly isSidechain?: boolean;
  readonly message?: {
    readonly content?: string | readonly { readonly type?: string; readonly text?: string }[];
  };
}
