import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { findProcessesByEnvironment, ownIdentity, systemClock, waitUntil } from '@holdfast/agent';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { buildProgram } from '../../persistence/__fixtures__/build-program.js';
import { ADAPTER, spec } from './__fixtures__/fake-worker.js';
import { endOrphans } from './end-orphans.js';
import { MARKER_VARIABLE } from './worker-marker.js';

const MARK = 'HOLDFAST_TEST_HOST';

/** A worker whose job is a CLI that runs until it is ended, and which says so. */
const worker = `
import { spawn } from 'node:child_process';
import { findCodingAdapter, systemClock } from '#agent';
import { describeCapabilities, digestCapabilities } from '#src/threads/contract/capabilities.wire.ts';
import { serveWorker } from '#src/threads/execution/serve-worker.ts';
import { endWorkerProcesses, isMarkOf, MARKER_VARIABLE } from '#src/threads/execution/worker-marker.ts';
const capabilities = describeCapabilities(findCodingAdapter('${ADAPTER}').adapter);
if (process.argv[2] === 'print-capabilities') {
  process.stdout.write(digestCapabilities(capabilities));
} else {
  const mark = process.env[MARKER_VARIABLE];
  process.stdout.on('error', () => {});
  await serveWorker({
    input: process.stdin,
    write: (text) => void process.stdout.write(text),
    capabilities,
    isOurRunner: (nonce) => isMarkOf(mark, nonce),
    run: ({ signal, report }) => new Promise((resolve, reject) => {
      spawn('/bin/sh', ['-c', 'trap "" HUP TERM; while :; do sleep 600; done'], {
        detached: true, stdio: 'ignore',
      });
      report({ type: 'step', step: 'run_turn' });
      signal.addEventListener('abort', () => reject(signal.reason));
    }),
  });
  await endWorkerProcesses({ mark }, { graceMs: 0, clock: systemClock });
  process.exit();
}
`;

const host = `
import { createCodingWorkers } from '#src/threads/execution/create-coding-workers.ts';
const [workerFile, spec] = process.argv.slice(2);
const environment = { ${MARK}: process.env.${MARK} };
await createCodingWorkers({ workerFile, environment }).run({
  spec: JSON.parse(spec),
  executionId: 'execution-1',
  fencingToken: 1,
  signal: new AbortController().signal,
  deadlineAt: () => Date.now() + 600000,
  onProgress: ({ step }) => process.stdout.write(step + '\\n'),
});
`;

let folder: string;
let programs: { readonly host: string; readonly worker: string };
const hosts = new Set<ChildProcess>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hf-dead-host-'));
  programs = {
    host: await buildProgram(folder, 'host', host),
    worker: await buildProgram(folder, 'worker', worker),
  };
}, 120_000);

afterAll(async () => {
  for (const each of hosts) each.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

describe('a host that is killed', () => {
  it('leaves nothing: its worker sees the end of its input, cancels and ends its CLI', async () => {
    const nonce = `dead-host-${folder}`;
    const find = () => findProcessesByEnvironment(MARK, nonce);
    const child = spawn(process.execPath, [programs.host, programs.worker, JSON.stringify(spec)], {
      env: { [MARK]: nonce, PATH: '/usr/bin:/bin' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    hosts.add(child);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    expect((await lines.next()).value).toBe('run_turn');
    await waitUntil(() => find().length >= 4, { awaiting: 'the CLI', deadlineMs: 30_000 });
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
    await waitUntil(() => find().length === 0, {
      awaiting: 'the end of everything that the host started',
      deadlineMs: 40_000,
    });
  });

  it('and whose worker hangs has it ended by the next host, which leaves those of the living', async () => {
    const impatient = hurried();
    const { pidNamespace, pid, startTime } = ownIdentity();
    const namespace = pidNamespace.replace(/\D/g, '');
    const dead = spawn('/bin/true', { env: {} });
    await once(dead, 'exit');
    const id = randomUUID();
    const marks = [
      `a-${id}.${dead.pid}.1.${namespace}`,
      `b-${id}.${pid}.${startTime}.${namespace}`,
      `c-${id}.${dead.pid}.1.4711`,
    ];
    const [orphan, ours, foreign] = marks.map(sleeper);
    if (!orphan || !ours || !foreign) throw new Error('unreachable: three were started');
    const gone = once(orphan, 'exit');
    const isOfTest = (mark: string) => marks.includes(mark);
    expect(await endOrphans(impatient, isOfTest)).toBe(1);
    await gone;
    expect([ours.exitCode, ours.signalCode]).toEqual([null, null]);
    expect([foreign.exitCode, foreign.signalCode]).toEqual([null, null]);
  });
});

/** A clock by which any patience is over after a few looks. */
function hurried() {
  let hurry = 0;
  return {
    ...systemClock,
    monotonicMs: () => systemClock.monotonicMs() + hurry,
    sleep: (ms: number, signal?: AbortSignal) => {
      hurry += 5_000;
      return systemClock.sleep(Math.min(ms, 20), signal);
    },
  };
}

function sleeper(mark: string): ChildProcess {
  const child = spawn('/bin/sleep', ['600'], { env: { [MARKER_VARIABLE]: mark } });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}
