import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { inspectCodingAgentSession } from './inspect-session.js';

const nativeSessionId = '33333333-3333-4333-8333-333333333333';
const handle = {
  provider: 'claude-code',
  transport: 'tmux',
  native_session_id: nativeSessionId,
  working_dir: '/',
} as const;

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hf-inspect-'));
  vi.stubEnv('CLAUDE_CONFIG_DIR', join(root, 'home'));
  vi.stubEnv('PATH', root);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(root, { recursive: true, force: true });
});

async function writeTranscript(project: string, answer: string): Promise<void> {
  const folder = join(root, 'home', 'projects', project);
  await mkdir(folder, { recursive: true });
  const row = { type: 'user', uuid: project, message: { role: 'user', content: answer } };
  await writeFile(join(folder, `${nativeSessionId}.jsonl`), `${JSON.stringify(row)}\n`);
}

const inspect = () => inspectCodingAgentSession(handle, { stateDir: join(root, 'state') });

describe('inspectCodingAgentSession', () => {
  it('says absent when the provider has no record and no process is left', async () => {
    expect(await inspect()).toMatchObject({ state: 'absent', process: 'gone', provisional: false });
  });

  it('says present when the provider holds a record, and lost when its process is gone', async () => {
    await writeTranscript('one', 'hello');
    expect(await inspect()).toMatchObject({ state: 'present', handle: { status: 'lost' } });
  });

  it('says unknown when it cannot tell which record is the session', async () => {
    await writeTranscript('one', 'hello');
    await writeTranscript('two', 'another copy');
    expect(await inspect()).toMatchObject({ state: 'unknown', process: 'gone' });
  });

  it('writes nothing', async () => {
    await inspect();
    expect(await readdir(root)).toEqual([]);
  });
});
