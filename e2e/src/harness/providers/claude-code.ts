import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { shellToolCall } from '@holdfast/provider-core/certification';
import { readJsonLines } from '../read-json-lines.js';
import type { ProviderFixture } from './provider-fixture.js';

/** Claude Code: one transcript a session, below `projects/<folder>/`. */
export const claudeCode: ProviderFixture = {
  provider: 'claude-code',
  model: 'claude-sonnet-4-5',
  cliHomeName: '.claude',
  basePath: '',
  env: {},
  prepareCliHome: async (cliHome, { workingDir }) => {
    await mkdir(cliHome, { recursive: true, mode: 0o700 });
    const trusted = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
    const settings = {
      hasCompletedOnboarding: true,
      customApiKeyResponses: { approved: ['loopback-key'], rejected: [] },
      projects: { [workingDir]: trusted },
    };
    await writeFile(join(cliHome, '.claude.json'), JSON.stringify(settings));
  },
  shellCall: (command) => shellToolCall('anthropic-messages', command),
  withoutRetries: { env: { CLAUDE_CODE_MAX_RETRIES: '0' } },
  forcedPage: { env: { CLAUDE_CODE_FORCE_FULLSCREEN_UPSELL: '1' } },
  readUserMessages: async (cliHome, nativeSessionId) => {
    const path = (await findTranscripts(cliHome)).get(nativeSessionId);
    return path === undefined ? [] : readTyped(await readJsonLines(path));
  },
  findRecords: findTranscripts,
};

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
  readonly type?: string;
  readonly isMeta?: boolean;
  readonly isSidechain?: boolean;
  readonly message?: {
    readonly content?: string | readonly { readonly type?: string; readonly text?: string }[];
  };
}
