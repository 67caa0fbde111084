import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findForeignPayer } from './find-foreign-payer.js';

const CLAUDE = 'claude-code-v1';
const CODEX = 'codex-app-server-v1';
const endpoint = { baseUrl: 'http://127.0.0.1:1' };

async function payerIn(adapterId: string, file: string, text: string, launch = {}) {
  const cliHome = await mkdtemp(join(tmpdir(), 'holdfast-'));
  onTestFinished(() => rm(cliHome, { recursive: true, force: true }));
  await writeFile(join(cliHome, file), text);
  return await findForeignPayer(adapterId, { cliHome, ...launch });
}

const claude = (settings: unknown, launch = {}) =>
  payerIn(CLAUDE, 'settings.json', JSON.stringify(settings), launch);

describe('whoever would pay for a job besides the login of the CLI', () => {
  it.each([
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_AUTH_TOKEN',
    'ANTHROPIC_BASE_URL',
    'ANTHROPIC_BEDROCK_BASE_URL',
    'ANTHROPIC_CUSTOM_HEADERS',
    'CLAUDE_CODE_USE_BEDROCK',
    'CLAUDE_CODE_USE_VERTEX',
    'CLAUDE_CODE_OAUTH_TOKEN',
  ])(
    'is named where the settings of Claude Code set %s, with an endpoint of ours too',
    async (name) => {
      const found = `settings.json: ${name}`;
      expect(await claude({ env: { [name]: 'x' } })).toBe(found);
      expect(await claude({ env: { [name]: 'x' } }, { endpoint })).toBe(found);
    },
  );

  it('is named where they have a command fetch a key', async () => {
    expect(await claude({ apiKeyHelper: 'x' })).toBe('settings.json: apiKeyHelper');
  });

  it('is nobody where the settings are about something else, or are none', async () => {
    const env = { ANTHROPIC_MODEL: 'x', ANTHROPIC_SMALL_FAST_MODEL: 'x', LANG: 'C' };
    expect(await claude({ env, permissions: { allow: ['Bash'] } })).toBeUndefined();
    expect(await payerIn(CLAUDE, 'settings.json', '{"env":')).toBeUndefined();
    expect(await payerIn(CLAUDE, 'other.json', '{}')).toBeUndefined();
    expect(await payerIn('unknown-v1', 'settings.json', '{}')).toBeUndefined();
  });

  it.each([
    ['model_provider', 'model_provider = "other"'],
    ['model_provider', '[profiles.x]\nmodel_provider="other"'],
    ['model_provider', 'profiles.x.model_provider = "other"'],
    ['model_provider', 'profiles = { x = { "model_provider" = "other" } }'],
    ['openai_base_url', 'openai_base_url = "http://127.0.0.1:1"'],
    ['chatgpt_base_url', "'chatgpt_base_url' = 'http://127.0.0.1:1'"],
    ['forced_login_method', 'forced_login_method = "api"'],
  ])('is named where the configuration of Codex sets %s (%#)', async (name, line) => {
    const text = `model = "m"\n${line}\n`;
    expect(await payerIn(CODEX, 'config.toml', text)).toBe(`config.toml: ${name}`);
    // What is given on the command line counts before it.
    expect(await payerIn(CODEX, 'config.toml', text, { endpoint })).toBeUndefined();
  });

  it('is nobody where Codex is left with its own provider', async () => {
    const lines = [
      '# model_provider = "other"',
      'model_provider = "openai"',
      'forced_login_method = "chatgpt"',
      '[model_providers.other]',
      'base_url = "http://127.0.0.1:1"',
    ];
    expect(await payerIn(CODEX, 'config.toml', lines.join('\n'))).toBeUndefined();
  });

  it('may be anybody where the settings cannot be read', async () => {
    const cliHome = await mkdtemp(join(tmpdir(), 'holdfast-'));
    onTestFinished(() => rm(cliHome, { recursive: true, force: true }));
    await mkdir(join(cliHome, 'settings.json'));
    expect(await findForeignPayer(CLAUDE, { cliHome })).toBe('settings.json: what cannot be read');
  });
});
