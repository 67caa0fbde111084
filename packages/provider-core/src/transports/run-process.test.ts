import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readProcessStatus } from '../state/process-identity.js';
import { waitUntil } from '../time/wait-until.js';
import {
  ProcessStartError,
  runProcess,
  runProcessForBytes,
  spawnDetached,
  spawnPiped,
} from './run-process.js';

let workingDir: string;

beforeEach(async () => {
  workingDir = await mkdtemp(join(tmpdir(), 'hf-'));
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(workingDir, { recursive: true, force: true });
});

const shell = (script: string) => ({
  file: '/bin/sh',
  args: ['-c', script],
  env: { PATH: '/usr/bin:/bin' },
  workingDir,
});

/** Waits for a whole line. */
async function untilFile(name: string): Promise<string> {
  return waitUntil(
    async () => {
      const text = await readFile(join(workingDir, name), 'utf8').catch(() => '');
      return text.endsWith('\n') && text;
    },
    { awaiting: name, deadlineMs: 10_000 },
  );
}

async function untilEnded(pid: number): Promise<void> {
  await waitUntil(() => ['Z', undefined].includes(readProcessStatus(pid)?.state), {
    awaiting: 'the process to end',
    deadlineMs: 10_000,
  });
}

describe('runProcess', () => {
  it('gives the program its arguments and its input unread by a shell', async () => {
    const request = shell('');
    const args = ['-c', 'printf "%s|" "$@"; cat', 'sh', '-x', '$HOME `id`', ''];
    const result = await runProcess({ ...request, args, input: 'from stdin' });
    expect(result).toMatchObject({
      outcome: 'exited',
      exitCode: 0,
      stdout: '-x|$HOME `id`||from stdin',
    });
  });

  it('passes on nothing of our own environment', async () => {
    vi.stubEnv('HOLDFAST_TEST_LEAK', 'leak');
    const { stdout } = await runProcess(shell('env'));
    expect(stdout).toContain('PATH=/usr/bin:/bin');
    expect(stdout).not.toContain('leak');
  });

  it('reports exit codes, signals and programs that do not exist as outcomes', async () => {
    expect(await runProcess(shell('exit 3'))).toMatchObject({ outcome: 'exited', exitCode: 3 });
    expect(await runProcess(shell('kill -9 $$'))).toMatchObject({
      outcome: 'killed',
      reason: 'SIGKILL',
    });
    const missing = { ...shell(''), file: '/nonexistent/program' };
    expect(await runProcess(missing)).toMatchObject({ outcome: 'not_started', reason: 'ENOENT' });
  });

  it('kills the whole group at the time limit, a grandchild that holds the pipe included', async () => {
    const request = shell('sleep 300 & echo $! > grandchild; echo begun; wait');
    const running = runProcess({ ...request, timeoutMs: 1_000 });
    const grandchild = Number(await untilFile('grandchild'));
    expect(await running).toMatchObject({ outcome: 'timed_out', stdout: 'begun\n' });
    await untilEnded(grandchild);
  });

  it('throws the reason of an abort and leaves nothing running', async () => {
    const abort = new AbortController();
    const running = runProcess({ ...shell('echo $$ > pid; exec sleep 300'), signal: abort.signal });
    const pid = Number(await untilFile('pid'));
    abort.abort(new TypeError('enough'));
    await expect(running).rejects.toThrow('enough');
    await untilEnded(pid);
  });

  it('cuts output at the limit and says so', async () => {
    const result = await runProcess({ ...shell('yes'), maxOutputCharacters: 1000 });
    expect(result.truncated).toBe(true);
    expect(result.stdout.length).toBeLessThanOrEqual(1000);
  });

  it('takes secrets out of what comes back', async () => {
    const secrets = ['key-1', 'key-12', ''];
    const { stdout, stderr } = await runProcess({
      ...shell('echo key-12; echo key-1 >&2'),
      secrets,
    });
    expect({ stdout, stderr }).toEqual({ stdout: '[redacted]\n', stderr: '[redacted]\n' });
  });
});

describe('runProcessForBytes', () => {
  it('gives back bytes that are no text as they came', async () => {
    const bytes = Uint8Array.of(0xef, 0xbb, 0xbf, 0xff, 0x00, 0x0d, 0x0a);
    const result = await runProcessForBytes({ ...shell('cat; echo no >&2'), input: bytes });
    expect(result).toMatchObject({ outcome: 'exited', exitCode: 0, stderr: 'no\n' });
    expect([...result.stdout]).toEqual([...bytes]);
  });

  it('counts bytes at its limit, and reports a program that does not exist', async () => {
    const result = await runProcessForBytes({ ...shell('yes ä'), maxOutputBytes: 1000 });
    expect(result.truncated).toBe(true);
    expect(result.stdout.byteLength).toBe(1000);
    const missing = { ...shell(''), file: '/nonexistent/program' };
    const ended = await runProcessForBytes(missing);
    expect(ended).toMatchObject({ outcome: 'not_started', reason: 'ENOENT' });
  });
});

describe('spawnDetached', () => {
  it('starts a program in a session of its own, with its output in a private file', async () => {
    const stdoutFile = join(workingDir, 'out');
    const child = await spawnDetached({ ...shell('echo up; exec sleep 300'), stdoutFile });
    try {
      expect(await untilFile('out')).toBe('up\n');
      expect((await stat(stdoutFile)).mode & 0o777).toBe(0o600);
      const fields = (await readFile(`/proc/${child.pid}/stat`, 'utf8')).split(') ')[1]?.split(' ');
      expect(fields?.[3]).toBe(String(child.pid));
      expect(child.startTime).toBe(readProcessStatus(child.pid)?.startTime);
    } finally {
      process.kill(child.pid, 'SIGKILL');
    }
    await untilEnded(child.pid);
  });

  it('throws a typed error for a program that cannot be started', async () => {
    const request = { ...shell(''), file: '/nonexistent/program' };
    await expect(spawnDetached(request)).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(spawnPiped(request)).rejects.toBeInstanceOf(ProcessStartError);
  });
});

describe('spawnPiped', () => {
  it('hands over a started program with its pipes', async () => {
    const child = await spawnPiped(shell('read line; echo "got $line"'));
    child.stdin.end('hello\n');
    const chunks = await child.stdout.toArray();
    expect(Buffer.concat(chunks).toString()).toBe('got hello\n');
  });
});
