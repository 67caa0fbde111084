import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ServedPane } from '../../spec/served-pane.js';
import { findWriter, findWriterLock, holdsWriterLock } from './find-writer.js';

const way = { record: { writerLock: (id: string) => `locks/${id}` } } as Pick<
  ServedPane,
  'record'
> as ServedPane;

let folder: string;
let cliHome: string;
let children: ChildProcess[];

beforeEach(async () => {
  children = [];
  folder = await mkdtemp(join(tmpdir(), 'hf-writer-'));
  cliHome = join(folder, 'home');
  await mkdir(join(cliHome, 'locks'), { recursive: true });
  await writeFile(join(cliHome, 'locks', 'session'), '');
});

afterEach(async () => {
  for (const child of children) {
    child.stdin?.end();
    if (child.exitCode === null) await once(child, 'exit');
  }
  await rm(folder, { recursive: true, force: true });
});

describe("the provider's writer lock", () => {
  it('names the process that holds it', async () => {
    const pid = await startProcess('exec flock "$0" sh -c "echo ready; read -r _"');

    expect(await findWriter(way, session())).toEqual({ pid });
    expect(await holds(pid)).toBe(true);
  });

  it('is not held by a process that only has its file open', async () => {
    const pid = await startProcess('exec 9>>"$0"; echo ready; read -r _');

    expect(await findWriter(way, session())).toBeUndefined();
    expect(await holds(pid)).toBe(false);
  });

  it('is found behind a home that is a link', async () => {
    const pid = await startProcess('exec flock "$0" sh -c "echo ready; read -r _"');
    const linked = join(folder, 'linked');
    await symlink(cliHome, linked);

    expect(await findWriter(way, session(linked))).toEqual({ pid });
    expect(await holds(pid, linked)).toBe(true);
  });

  it('is held by nobody where there is no session', async () => {
    expect(await findWriterLock(way, { cliHome, nativeSessionId: 'other' })).toBeUndefined();
    expect(await findWriter(way, { cliHome, nativeSessionId: 'other' })).toBeUndefined();
  });
});

function session(home = cliHome) {
  return { cliHome: home, nativeSessionId: 'session' };
}

async function holds(pid: number, home?: string): Promise<boolean> {
  const lock = await findWriterLock(way, session(home));
  return lock !== undefined && holdsWriterLock(pid, lock);
}

/** Runs a script with the lock's path, which says when it is as it is to be and ends with its input. */
async function startProcess(script: string): Promise<number> {
  const path = join(cliHome, 'locks', 'session');
  const child = spawn('sh', ['-c', script, path], { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  await once(child.stdout, 'data');
  return child.pid ?? 0;
}
