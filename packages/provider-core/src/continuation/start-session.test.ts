import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { prepareStateDir } from '../state/prepare-state-dir.js';
import { saveStartRecord } from '../state/start-record.js';
import { digestOf } from './canonical-json.js';
import { continueCodingAgentSession } from './continue-session.js';
import { stableDigests } from './stable-digests.js';
import { startCodingAgentSession } from './start-session.js';

const turnId = '22222222-2222-4222-8222-222222222222';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hf-start-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** An executable that tells a version and can do nothing else. */
async function writeBinary(version: string): Promise<string> {
  const binary = join(root, 'cli');
  await writeFile(binary, `#!/bin/sh\necho '${version}'\n`, { mode: 0o700 });
  return binary;
}

const configOf = (binary: string) => ({ workingDir: root, cliHome: join(root, 'home'), binary });

describe('startCodingAgentSession', () => {
  it.each(['', 'x'.repeat(10 * 1024 * 1024), 'half \ud800 a pair'])(
    'B36: refuses a message that no session could take before anything is written or started',
    async (message) => {
      const binary = await writeBinary('codex-cli 0.171.0');
      const stateDir = join(root, 'state');
      await expect(
        startCodingAgentSession({
          provider: 'codex-cli',
          config: configOf(binary),
          message,
          stateDir,
          turnId,
        }),
      ).rejects.toMatchObject({ kind: 'undeliverable_message', turnId });
      const written = (folder: string) => readdir(join(stateDir, folder)).catch(() => []);
      expect(await written('servers')).toEqual([]);
      expect(await written('sessions')).toEqual([]);
      expect(await written('starts')).not.toContain(`${turnId}.json`);
    },
  );

  it('says at once that a model API keeps no native session', async () => {
    const start = startCodingAgentSession({
      provider: 'openai' as never,
      config: configOf('/bin/true'),
      message: 'hello',
      stateDir: join(root, 'state'),
    });
    await expect(start).rejects.toMatchObject({ kind: 'non_applicable', provider: 'openai' });
    expect(await readdir(root)).toEqual([]);
  });

  it('B20: never begins anew when the session it made is known and its record is gone', async () => {
    const binary = await writeBinary('2.1.197 (Claude Code)');
    const config = configOf(binary);
    const stateDir = join(root, 'state');
    const layout = await prepareStateDir(stateDir);
    const { findProvider } = await import('../providers/registry.js');
    const fields = findProvider('claude-code')?.capabilities.stableFields ?? [];
    await saveStartRecord(layout, {
      turnId,
      messageDigest: digestOf('hello'),
      provider: 'claude-code',
      configDigest: digestOf(stableDigests('claude-code', config, fields)),
      nativeSessionId: '33333333-3333-4333-8333-333333333333',
      abandonedNativeIds: [],
      createdAt: '2026-01-01T00:00:00.000Z',
    });
    await expect(
      startCodingAgentSession({
        provider: 'claude-code',
        config,
        message: 'hello',
        stateDir,
        turnId,
      }),
    ).rejects.toMatchObject({ kind: 'state_unusable', reason: 'damaged' });
  });

  it.each([
    [{ cliHome: 'home' }, 'config.cliHome'],
    [{ workingDir: 'here' }, 'config.workingDir'],
    [{ nudge: ' ' }, 'config.nudge'],
  ])('throws at once for the config %j', (change, named) => {
    const config = { ...configOf('/bin/true'), ...change };
    const start = () =>
      startCodingAgentSession({ provider: 'claude-code', config, message: 'hello' });
    expect(start).toThrow(named);
    expect(start).toThrow(TypeError);
  });

  it.each([0, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31])(
    'throws at once for a limit of %d ms, which would be no deadline',
    (openMs) => {
      const config = configOf('/bin/true');
      const limits = { openMs };
      expect(() =>
        startCodingAgentSession({ provider: 'claude-code', config, message: 'hello', limits }),
      ).toThrow('limits.openMs');
    },
  );
});

describe('continueCodingAgentSession', () => {
  it('gives every error the handle and the turn id, as soon as a native id is known', async () => {
    const handle = { provider: 'claude-code', transport: 'tmux', nativeSessionId: 'n-1' };
    await expect(
      continueCodingAgentSession(handle, 'hello', { turnId, stateDir: join(root, 'state') }),
    ).rejects.toMatchObject({
      kind: 'non_continuable',
      missing: 'launch_record',
      handle: { nativeSessionId: 'n-1' },
    });
  });
});
