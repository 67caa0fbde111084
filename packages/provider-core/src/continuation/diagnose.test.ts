import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { saveLaunchRecord } from '../state/launch-record.js';
import { prepareStateDir } from '../state/prepare-state-dir.js';
import { findProcessesWithVariable } from '../state/process-tree.js';
import { waitUntil } from '../time/wait-until.js';
import { diagnose } from './diagnose.js';
import { newRecord } from './new-record.js';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hf-doctor-'));
  await mkdir(join(root, 'bin'));
  vi.stubEnv('PATH', join(root, 'bin'));
  vi.stubEnv('CLAUDE_CONFIG_DIR', join(root, 'home'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(root, { recursive: true, force: true });
});

async function install(name: string, prints: string): Promise<void> {
  await writeFile(join(root, 'bin', name), `#!/bin/sh\necho '${prints}'\n`, { mode: 0o700 });
}

async function saveSession(status: 'idle' | 'closed', nonce: string): Promise<string> {
  const stateDir = join(root, 'state');
  const layout = await prepareStateDir(stateDir);
  const { findProvider } = await import('../providers/registry.js');
  const definition = findProvider('claude-code');
  if (!definition) throw new TypeError('no provider');
  const found = { binary: '', cliVersion: '2.1.197', cliHome: join(root, 'home') };
  const beginning = { at: 'now', ways: ['tmux'] as const, choice: 'tmux' as const };
  await saveLaunchRecord(layout, {
    ...newRecord(definition, { workingDir: root }, found, beginning),
    nativeSessionId: crypto.randomUUID(),
    nonce,
    status,
  });
  return stateDir;
}

describe('diagnose', () => {
  it('says which CLIs are there, what is certified for them, and what is missing', async () => {
    await install('claude', '2.1.999 (Claude Code)');
    await install('tmux', 'tmux 3.1c');
    const { providers, tmux } = await diagnose({ stateDir: join(root, 'state') });
    const [claude, codex] = providers;
    expect(claude).toMatchObject({
      usable: true,
      version: '2.1.999',
      isBeyondCertified: true,
      homeExists: false,
    });
    expect(claude?.ways.tmux).toContain('interrupt');
    expect(codex).toMatchObject({ usable: false });
    expect(codex?.problem).toContain('Install it');
    expect(tmux).toMatchObject({ usable: false, version: '3.1c' });
  });

  it('writes nothing and makes no state directory', async () => {
    await install('claude', '2.1.332 (Claude Code)');
    const { stateDir } = await diagnose({ stateDir: join(root, 'state') });
    expect(stateDir.exists).toBe(false);
    expect(await readdir(root)).toEqual(['bin']);
  });

  it('leaves a damaged launch record as and where it is', async () => {
    const folder = join(root, 'state', 'sessions', 'claude-code', 'damaged');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'launch.json'), '{ cut off');
    expect((await diagnose({ stateDir: join(root, 'state') })).sessions).toEqual([]);
    expect(await readdir(folder)).toEqual(['launch.json']);
  });

  it.each([
    ['closed', 'dead_session'],
    ['idle', undefined],
  ] as const)('tells the processes that a session left behind (%s)', async (status, left) => {
    const nonce = crypto.randomUUID();
    const child = spawn('/bin/sleep', ['600'], { env: { HOLDFAST_NONCE: nonce } });
    try {
      await waitUntil(() => findProcessesWithVariable('HOLDFAST_NONCE').has(nonce), {
        awaiting: 'the process to be seen',
        deadlineMs: 20_000,
      });
      const { leftovers, sessions } = await diagnose({
        stateDir: await saveSession(status, nonce),
      });
      expect(sessions).toMatchObject([{ status, processes: 1, lease: 'free' }]);
      const ours = leftovers.filter(({ pid }) => pid === child.pid);
      expect(ours).toEqual(left ? [{ pid: child.pid, of: left }] : []);
    } finally {
      child.kill('SIGKILL');
    }
  });
});
