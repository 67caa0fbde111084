import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findCodingAdapter, findProcessesByEnvironment } from '@holdfast/agent';
import { onTestFinished } from 'vitest';
import type { CodingJobInput, CodingOutcome } from '../../coding-job.js';
import { artifact, CHECKPOINT, DIGEST, implementJob } from '../../contract/__fixtures__/coding-jobs.js';
import { describeCapabilities, digestCapabilities } from '../../contract/capabilities.wire.js';
import { buildTurnSpec, type CodingTurnSpec } from '../../contract/coding-turn-spec.wire.js';
import { result, trusted } from '../../store/__fixtures__/thread-bench.js';
import type { CodingWorkerSpec, WorkerEnd, WorkerProgress } from '../../worker/worker-spec.js';
import type { CodingWorkers } from '../coding-workers.js';
import { createCodingWorkers } from '../create-coding-workers.js';
import type { CodingWorkersOptions } from '../worker-place.js';

export const ADAPTER = 'codex-app-server-v1';
const SESSION = '019a0000-0000-7000-8000-000000000001';

export const capabilities = (() => {
  const found = findCodingAdapter(ADAPTER);
  if (!found) throw new TypeError('there is no such adapter');
  return describeCapabilities(found.adapter);
})();

/** The turn of a job under the policy of these tests. */
export function turnOf(job: CodingJobInput): CodingTurnSpec {
  return buildTurnSpec(job, {
    contract: { compatibilityDigest: DIGEST },
    authenticationProfile: 'personal-subscription',
    policy: {
      schemaVersion: 1,
      permissionSource: 'agent-policy',
      permissionMode: 'managed',
      interaction: 'unattended',
    },
  });
}

export const spec: CodingWorkerSpec = {
  schemaVersion: 1,
  turn: turnOf(implementJob()),
  operationId: 'op-1',
  trusted,
  adapterId: ADAPTER,
  cli: {},
  otherHomes: [],
  repositoryUriPrefix: 'file:///bundles/',
  dataDir: '/nowhere/data',
  workspacesDir: '/nowhere/workspaces',
  git: '/usr/bin/git',
  inactivityMs: 60_000,
};

const { patch, ...implemented } = result.outcome;
export const outcome: CodingOutcome = {
  ...implemented,
  patch,
  artifact: artifact(),
  operationId: 'op-1',
  thread: { sessionRef: SESSION, checkpoint: CHECKPOINT, state: 'READY' },
};

/** What every fake worker can: it hears commands and says events, each as it should be unless told otherwise. */
const prelude = `
import { randomUUID } from 'node:crypto';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
const capabilities = ${JSON.stringify(capabilities)};
if (process.argv[2] === 'print-capabilities') {
  console.log('${digestCapabilities(capabilities)}');
  process.exit();
}
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const hear = async () => {
  const { value, done } = await lines.next();
  return done ? undefined : JSON.parse(value);
};
let sequence = 0;
const { identity } = await hear();
const frame = (payload, change = {}) => {
  const { executionId, leaseId, fencingToken } = identity;
  sequence += 1;
  return JSON.stringify({
    protocolVersion: '1.4', eventId: randomUUID(), executionId, leaseId, fencingToken, sequence,
    occurredAt: new Date().toISOString(), payload, ...change,
  });
};
const write = (text) => new Promise((resolve) => process.stdout.write(text, resolve));
const say = (payload, change) => write(frame(payload, change) + '\\n');
const step = (message, change) => say({ type: 'progress', message }, change);
const terminal = (parts) => ({ type: 'terminal', output: null, error: null, reason: null, ...parts });
const patch = {
  type: 'coding-patch',
  base_revision: ${JSON.stringify(patch.baseRevision)},
  patch: ${JSON.stringify(patch.patch)},
  patch_digest: ${JSON.stringify(patch.patchDigest)},
  changed_paths: ${JSON.stringify(patch.changedPaths)},
};
const output = ${JSON.stringify({ ...outcome, patch: undefined })};
const succeed = async () => {
  await say(patch);
  await say(terminal({ class: 'success', output }));
};
const stay = () => new Promise(() => setInterval(() => {}, 1000));
const begin = async () => {
  await say({ type: 'ready', capabilities });
  return await hear();
};
`;

/** A bench with a fake worker. */
export interface FakeBench {
  readonly file: string;
  readonly workers: CodingWorkers;
  readonly run: (options?: FakeRun) => Promise<WorkerEnd>;
  readonly progress: readonly WorkerProgress[];
  /** The pids of what runs of it. */
  readonly processes: () => readonly number[];
}

/** How a fake worker is run. */
export interface FakeRun {
  readonly spec?: CodingWorkerSpec | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly deadlineAt?: (() => number) | undefined;
  readonly onProgress?: ((progress: WorkerProgress) => void) | undefined;
}

/** Makes a worker whose program is `body`, after its hello was heard. */
export async function fakeWorker(
  body: string,
  options: Partial<CodingWorkersOptions> = {},
): Promise<FakeBench> {
  const folder = await mkdtemp(join(tmpdir(), 'hf-worker-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'worker.mjs');
  await writeFile(file, `${prelude}\n${body}\n`);
  const nonce = `fake-${folder}`;
  const workers = createCodingWorkers({
    workerFile: file,
    graceMs: 20_000,
    ...options,
    environment: { HOLDFAST_TEST_WORKER: nonce, ...options.environment },
  });
  const progress: WorkerProgress[] = [];
  return {
    file,
    workers,
    progress,
    processes: () =>
      findProcessesByEnvironment('HOLDFAST_TEST_WORKER', nonce).map(({ pid }) => pid),
    run: ({ onProgress, signal, deadlineAt, spec: other } = {}) =>
      workers.run({
        spec: other ?? spec,
        executionId: 'execution-1',
        fencingToken: 1,
        signal: signal ?? new AbortController().signal,
        deadlineAt: deadlineAt ?? (() => Date.now() + 60_000),
        onProgress: (one) => {
          progress.push(one);
          onProgress?.(one);
        },
      }),
  };
}
