import type { Clock } from '@holdfast/agent';
import { MemoryDisk, MemoryStore } from '../../../executions/__fixtures__/memory-store.js';
import { keys } from '../../../persistence/keys.js';
import type { Store } from '../../../persistence/store.js';
import { DIGEST } from '../../contract/__fixtures__/coding-jobs.js';
import type { TurnProof } from '../../store/recover-thread.js';
import { createThreadStore } from '../../store/thread-store.js';
import type { CodingStage, RunStage, StageOutcome } from '../coding-stage.js';
import { createCodingStages } from '../create-coding-stages.js';
import type { StageRecord } from '../stage-record.js';
import { decodeStageRecord } from '../stage-record.wire.js';
import type { StageThreads } from '../stage-threads.js';
import { type Script, ScriptedJobs } from './scripted-jobs.js';

export const OWNER = {
  kind: 'workflow',
  processId: '019a0000-0000-7000-8000-00000000000f',
} as const;

export const stage: CodingStage = {
  stageId: 'stage-A',
  repository: {
    artifactUri: 'file:///bundles/r.bundle',
    digest: DIGEST,
    size: 48_211,
    mediaType: 'application/x-git-bundle',
  },
  baseRevision: 'a'.repeat(40),
  repositoryName: 'owner/name',
  workspaceRoot: '/workspace/repo',
  prompt: 'Build it.',
  requirements: 'It works.',
  implementer: { runnerId: 'personal' },
  reviewer: { runnerId: 'personal' },
};

/** A clock whose sleeps take no time; it counts them. */
export function instantClock(): Clock & { readonly slept: number[] } {
  const slept: number[] = [];
  let now = 1_790_000_000_000;
  return {
    slept,
    now: () => now,
    monotonicMs: () => now,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      slept.push(ms);
      now += ms;
    },
  };
}

/** The threads of a store, as a stage may decide about them. */
export function stageThreads(store: Store, proof: TurnProof['turn'] = 'unknown'): StageThreads {
  const threads = createThreadStore(store);
  const place = ({ sessionRef }: { readonly sessionRef: string }) => ({ scope: DIGEST, sessionRef });
  return {
    scopeOf: () => DIGEST,
    inspect: (one) => threads.inspect(place(one)),
    adopt: ({ operationId, reason, ...one }) =>
      threads.adopt({ ...place(one), operationId, reason }),
    abandon: ({ reason, ...one }) => threads.abandon({ ...place(one), reason }),
    rollback: ({ reason, ...one }) =>
      threads.rollback({ ...place(one), reason, prove: async () => ({ turn: proof, evidence: {} }) }),
  };
}

interface BenchOptions {
  readonly proof?: TurnProof['turn'];
}

/** A store with scripted workers, and stages over both. */
export function bench(script: Script, { proof }: BenchOptions = {}) {
  const store = new MemoryStore(new MemoryDisk());
  const jobs = new ScriptedJobs(store, script);
  const clock = instantClock();
  const threads = stageThreads(store, proof);
  const run = (change: Partial<RunStage> & { readonly over?: Partial<CodingStage> } = {}) => {
    const { over, ...request } = change;
    const stages = createCodingStages({ store, clock, jobs, threads });
    return stages.run({ key: 'k', stage: { ...stage, ...over }, owner: OWNER, ...request });
  };
  const lines = () => jobs.seen.map(({ line }) => line);
  return { store, jobs, clock, threads, run, lines, record: () => readStage(store) };
}

/** The record of the one stage of these tests. */
export async function readStage(store: Store, key = 'k'): Promise<StageRecord> {
  const found = await store.read(keys.codingStage(key));
  const record = found.state === 'present' ? decodeStageRecord(found.value) : undefined;
  if (!record) throw new TypeError(`no record: ${found.state}`);
  return record;
}

/** What became of the threads, in one line each. */
export function endsOf({ threads }: StageOutcome): readonly string[] {
  return threads.map(({ role, state }) => `${role} ${state}`);
}
