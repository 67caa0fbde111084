import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { waitUntil } from '../time/wait-until.js';
import { observePid, readProcessStartTime } from './process-identity.js';
import {
  endProcesses,
  findProcessesByEnvironment,
  listProcessTree,
  listSessionProcesses,
} from './process-tree.js';

const NONCE = 'HOLDFAST_TEST_NONCE';

/** Runs a shell script that prints `ready`, with a nonce of its own in its environment. */
async function startScript(script: string) {
  const nonce = randomUUID();
  const child = spawn('/bin/sh', ['-c', script], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: '/usr/bin:/bin', [NONCE]: nonce },
    detached: true,
  });
  onTestFinished(async () => {
    await endProcesses(findProcessesByEnvironment(NONCE, nonce), { graceMs: 0 });
  });
  await once(child.stdout, 'data');
  return { nonce, pid: child.pid ?? 0 };
}

describe('findProcessesByEnvironment', () => {
  it('finds what was reparented and left the session too', async () => {
    const { nonce } = await startScript('(setsid sleep 60 &) ; echo ready; exec sleep 60');
    const find = () => findProcessesByEnvironment(NONCE, nonce).length === 2;
    await waitUntil(find, { awaiting: 'two processes', deadlineMs: 5_000 });
  });

  it('asks the given processes alone', async () => {
    const { nonce, pid } = await startScript('echo ready; exec sleep 60');
    expect(findProcessesByEnvironment(NONCE, nonce, [process.pid])).toEqual([]);
    expect(findProcessesByEnvironment(NONCE, nonce, [pid])).toMatchObject([{ pid }]);
  });

  it('takes a longer value, or a name that ends alike, for another one', async () => {
    const { nonce } = await startScript(`X${NONCE}=other; export X${NONCE}; echo ready; read x`);
    expect(findProcessesByEnvironment(NONCE, nonce.slice(0, -1))).toEqual([]);
    expect(findProcessesByEnvironment(NONCE, 'other')).toEqual([]);
  });
});

describe('listProcessTree', () => {
  it('lists the process and everything below it, parents first', async () => {
    const { pid } = await startScript('(sleep 60; :) & echo ready; wait');
    const isWhole = () => listProcessTree(pid).length === 3;
    await waitUntil(isWhole, { awaiting: 'a tree of three', deadlineMs: 5_000 });
    expect(listProcessTree(pid)[0]?.pid).toBe(pid);
  });

  it('is empty for a pid nobody has', () => {
    expect(listProcessTree(2 ** 30)).toEqual([]);
  });
});

describe('listSessionProcesses', () => {
  it('lists what was reparented and has another environment', async () => {
    const script = '(env -i /bin/sleep 60 &) ; echo ready; exec sleep 60';
    const { pid } = await startScript(script);
    const [leader] = listProcessTree(pid);
    if (!leader) throw new Error('the leader is gone');
    const isWhole = () => listSessionProcesses(leader).length === 2;
    await waitUntil(isWhole, { awaiting: 'a session of two', deadlineMs: 5_000 });
    await endProcesses([leader], { graceMs: 0 });
    const [left, ...others] = listSessionProcesses(leader);
    expect(others).toEqual([]);
    expect(left?.pid).not.toBe(pid);
    expect(await endProcesses(left ? [left] : [], { graceMs: 0 })).toEqual({ ended: 1, left: [] });
  });

  it('is empty once the pid belongs to another process', () => {
    expect(listSessionProcesses({ pid: process.pid, startTime: '1' })).toEqual([]);
  });
});

describe('endProcesses', () => {
  it('ends a tree and proves it dead', async () => {
    const { pid } = await startScript('(sleep 60; :) & echo ready; wait');
    const tree = listProcessTree(pid);
    expect(await endProcesses(tree, { graceMs: 5_000 })).toEqual({ ended: tree.length, left: [] });
    for (const each of tree) expect(observePid(each.pid, each.startTime)).toBe('dead');
  });

  it('kills what does not end by itself', async () => {
    const { pid } = await startScript('trap "" TERM; echo ready; while :; do sleep 60; done');
    const tree = listProcessTree(pid).filter((each) => each.pid === pid);
    expect(await endProcesses(tree, { graceMs: 50 })).toEqual({ ended: 1, left: [] });
  });

  it('does not signal a pid that changed hands', async () => {
    const { pid } = await startScript('echo ready; exec sleep 60');
    const startTime = readProcessStartTime(pid) ?? '';
    expect(await endProcesses([{ pid, startTime: '1' }], { graceMs: 50 })).toEqual({
      ended: 0,
      left: [],
    });
    expect(observePid(pid, startTime)).toBe('alive');
  });

  it('never ends ourselves', async () => {
    const self = { pid: process.pid, startTime: readProcessStartTime(process.pid) ?? '' };
    expect(await endProcesses([self], { graceMs: 0 })).toEqual({ ended: 0, left: [] });
  });
});
