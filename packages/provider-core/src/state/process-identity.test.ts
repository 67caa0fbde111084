import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { waitUntil } from '../time/wait-until.js';
import {
  isOver,
  observePid,
  observeProcess,
  ownIdentity,
  parseProcessStatus,
  readOwnIdentity,
  readProcessStartTime,
  readProcessStatus,
} from './process-identity.js';

const own = ownIdentity();

/** A process of ours that stands still until it is killed. */
function startSleeper() {
  return spawn('/bin/sh', ['-c', 'read -r line'], { stdio: ['pipe', 'ignore', 'ignore'], env: {} });
}

function identityOf(pid: number) {
  return { ...own, pid, startTime: readProcessStartTime(pid) ?? 'none' };
}

describe('observeProcess', () => {
  it('sees that we are alive', async () => {
    expect(observeProcess(await readOwnIdentity())).toBe('alive');
  });

  it('sees a process alive, and dead after it was killed', async () => {
    const child = startSleeper();
    const identity = identityOf(child.pid ?? 0);
    expect(observeProcess(identity)).toBe('alive');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(observeProcess(identity)).toBe('dead');
  });

  it('takes a zombie that nobody has put away for dead', async () => {
    // The shell turns into the second `sleep`, which never asks after its child.
    const parent = spawn('/bin/sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'], {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { PATH: '/usr/bin:/bin' },
    });
    onTestFinished(() => void parent.kill('SIGKILL'));
    const [line] = await once(parent.stdout, 'data');
    const identity = identityOf(Number(String(line).trim()));
    const hasTurned = () => readFileSync(`/proc/${parent.pid}/comm`, 'utf8') === 'sleep\n';
    await waitUntil(hasTurned, { awaiting: 'the shell to be replaced', deadlineMs: 5_000 });
    process.kill(identity.pid, 'SIGKILL');
    const isZombie = () => readProcessStatus(identity.pid)?.state === 'Z';
    await waitUntil(isZombie, { awaiting: 'a zombie', deadlineMs: 5_000 });
    expect(observeProcess(identity)).toBe('dead');
  });

  it('takes a pid that changed hands for dead', () => {
    expect(observeProcess({ ...own, startTime: '1' })).toBe('dead');
  });

  it('takes a process of an earlier boot of this host for dead', () => {
    expect(observeProcess({ ...own, bootId: 'an-earlier-boot' })).toBe('dead');
  });

  it.each([
    ['of another host', { hostId: 'elsewhere', bootId: 'another-boot' }],
    ['in another pid namespace', { pidNamespace: 'pid:[1]' }],
    ['of a system without /proc', { bootId: 'unknown' }],
  ])('does not judge a process %s', (_where, difference) => {
    expect(observeProcess({ ...own, ...difference })).toBe('unknown');
  });

  it('knows itself on a system without /proc, and judges nobody else there', () => {
    const blind = { ...own, bootId: 'unknown', pidNamespace: 'unknown' };
    expect(observeProcess(blind, blind)).toBe('alive');
    expect(observeProcess({ ...blind, pid: own.pid + 1 }, blind)).toBe('unknown');
  });
});

describe('isOver', () => {
  it('takes a killed process whose other threads still run for alive', () => {
    expect(isOver({ state: 'Z' }, () => 5)).toBe(false);
    expect(isOver({ state: 'Z' }, () => 1)).toBe(true);
    expect(isOver({ state: 'Z' }, () => undefined)).toBe(true);
    expect(isOver({ state: 'T' }, () => 1)).toBe(false);
  });
});

describe('parseProcessStatus', () => {
  it('reads a name with blanks and brackets', () => {
    const text = `7 (a) b (c)) S 3 ${Array.from({ length: 17 }, (_, index) => index).join(' ')} 4711 0`;
    expect(parseProcessStatus(7, text)).toEqual({
      pid: 7,
      state: 'S',
      parentPid: 3,
      sessionId: 1,
      startTime: '4711',
    });
  });
});

describe('observePid', () => {
  it('finds no process under a pid that the system cannot give', () => {
    expect(observePid(2 ** 30, '1')).toBe('dead');
  });
});
