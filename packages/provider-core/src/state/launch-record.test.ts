import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type LaunchRecord, readLaunchRecord, saveLaunchRecord } from './launch-record.js';
import { type StateLayout, stateLayout } from './state-layout.js';

const golden = new URL('./__fixtures__/v1/launch.json', import.meta.url);

const record: LaunchRecord = {
  schemaVersion: 1,
  provider: 'claude-code',
  transport: 'tmux',
  nativeSessionId: '6f3c0c5e-3a52-4b62-9d0f-0f6c8d6a1b11',
  config: {
    workingDir: '/projects/heron',
    model: 'opus',
    systemPrompt: 'Be brief.',
    mcpServers: {
      files: { command: 'files-server', args: ['--root', '/projects/heron'], env: { API_KEY: '' } },
      web_search: { url: 'http://127.0.0.1:1/', headers: { 'X-Some_Header': 'y' } },
    },
    toolPolicy: { permissions: 'edit', allow: ['Bash(ls *)'], deny: [] },
    effort: 'high',
    env: { SOME_TOKEN: { env: 'MY_TOKEN' }, EMPTY: '' },
    endpoint: { baseUrl: 'http://127.0.0.1:9/', apiKey: { env: 'MODEL_KEY' } },
    cliHome: '/home/cli',
    binary: '/usr/bin/claude',
    trustWorkingDir: true,
    nudge: 'Go on.',
  },
  stableFields: { working_dir: 'a'.repeat(64) },
  cliVersion: '2.1.332',
  cliHome: '/home/cli',
  nonce: 'n0nce',
  acknowledged: true,
  revision: 3,
  tmuxSession: 'hf-1',
  status: 'idle',
  archived: false,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-02T00:00:00.000Z',
  lastTurnId: 't9',
  expectedPermissions: 'edit',
};

async function layoutOf(): Promise<StateLayout> {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return stateLayout(dir);
}

function pathOf(layout: StateLayout): string {
  return layout.launchRecord(record.provider, record.nativeSessionId);
}

const read = (layout: StateLayout) =>
  readLaunchRecord(layout, record.provider, record.nativeSessionId);

async function plant(layout: StateLayout, content: string): Promise<void> {
  await mkdir(dirname(pathOf(layout)), { recursive: true });
  await writeFile(pathOf(layout), content);
}

describe('launch record', () => {
  it('comes back as it was saved, and is readable by its owner alone', async () => {
    const layout = await layoutOf();
    expect(await read(layout)).toBeUndefined();
    await saveLaunchRecord(layout, record);
    expect(await read(layout)).toEqual(record);
    expect((await stat(pathOf(layout))).mode & 0o777).toBe(0o600);
  });

  it('is written as the golden file says, and the golden file is read', async () => {
    const layout = await layoutOf();
    await saveLaunchRecord(layout, record);
    const text = await readFile(golden, 'utf8');
    expect(JSON.parse(await readFile(pathOf(layout), 'utf8'))).toEqual(JSON.parse(text));
    await plant(layout, text);
    expect(await read(layout)).toEqual(record);
  });

  it('keeps what a newer version added', async () => {
    const layout = await layoutOf();
    const json: unknown = JSON.parse(await readFile(golden, 'utf8'));
    const config = { working_dir: '/projects/heron', later_option: { a: 1 } };
    await plant(layout, JSON.stringify({ ...(json as object), config, later_key: [1] }));
    const found = await read(layout);
    if (found) await saveLaunchRecord(layout, { ...found, revision: 4 });
    expect(JSON.parse(await readFile(pathOf(layout), 'utf8'))).toMatchObject({
      revision: 4,
      config,
      later_key: [1],
    });
  });

  it('holds a reference to a secret, not the secret', async () => {
    const layout = await layoutOf();
    process.env['MODEL_KEY'] = 'the-secret-itself';
    onTestFinished(() => void delete process.env['MODEL_KEY']);
    await saveLaunchRecord(layout, record);
    expect(await readFile(pathOf(layout), 'utf8')).not.toContain('the-secret-itself');
  });

  it.each(['', '{"schema_version":1}', '[]', '{"schema_version":1,"status":"asleep"}'])(
    'moves %j aside, says so each time, and can be written anew',
    async (content) => {
      const layout = await layoutOf();
      await plant(layout, content);
      const damage = { kind: 'state_unusable', reason: 'damaged' };
      await expect(read(layout)).rejects.toMatchObject(damage);
      await expect(read(layout)).rejects.toMatchObject(damage);
      expect(await readFile(`${pathOf(layout)}.damaged-1`, 'utf8')).toBe(content);
      await saveLaunchRecord(layout, record);
      expect(await read(layout)).toEqual(record);
    },
  );

  it('leaves a newer schema as it is', async () => {
    const layout = await layoutOf();
    await plant(layout, '{"schema_version":2}');
    await expect(read(layout)).rejects.toMatchObject({ reason: 'newer_format' });
    expect(await readFile(pathOf(layout), 'utf8')).toBe('{"schema_version":2}');
  });
});
