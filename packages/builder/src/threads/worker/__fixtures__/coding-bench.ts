import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import { type Clock, findCodingAdapter } from '@holdfast/agent';
import { MemorySessions, type Step } from '../../../__fixtures__/memory-sessions.js';
import { temporaryStore } from '../../../persistence/__fixtures__/temporary-store.js';
import type { Store } from '../../../persistence/store.js';
import type { CodingJobInput, CodingOutcome, ReviewResult, ThreadDirective } from '../../coding-job.js';
import { review } from '../../contract/__fixtures__/coding-jobs.js';
import { digestAdapter } from '../../contract/adapter-contract.wire.js';
import { digestOfText } from '../../contract/canonical-json.js';
import { buildTurnSpec } from '../../contract/coding-turn-spec.wire.js';
import { place as threadPlace, SESSION, trusted } from '../../store/__fixtures__/thread-bench.js';
import { nameThread } from '../../store/thread-files.js';
import { createThreadStore, type ThreadStore } from '../../store/thread-store.js';
import { put } from '../../workspace/__fixtures__/job.js';
import { type FileSpec, gitFile, openTestPlace,
  type TestPlace, type TestBundle } from '../../workspace/__fixtures__/repository.js';
import type { CodingJobRun } from '../job-run.js';
import { runCodingJob } from '../run-coding-job.js';
import type { CodingWorkerSpec, WorkerPolicy, WorkerProgress } from '../worker-spec.js';

/** An adapter whose CLI archives, and one that has no archive. */
export const NATIVE = 'codex-app-server-v1';
export const TOMBSTONE = 'claude-code-v1';
const POLICIES = {
  [NATIVE]: { permissionSource: 'agent-policy', permissionMode: 'managed' },
  [TOMBSTONE]: { permissionSource: 'agent-policy', permissionMode: 'dontAsk' },
} as const;

const MODELS = ['model-a', 'model-b'];

/** Sessions in memory of a CLI that archives, as far as a test lets it. */
export class CodingSessions extends MemorySessions {
  readonly closes: ({ readonly archive?: boolean | undefined } | undefined)[] = [];
  /** What becomes of an archive; a test may throw, or never resolve. */
  onArchive: () => boolean | Promise<boolean> = () => true;
  /** What the CLI answers next, and to the last of it again. */
  answers: string[] = ['done'];
  readonly #close = this.close;

  constructor() {
    super(undefined, () => (this.answers.length > 1 ? this.answers.shift() : this.answers[0]) ?? '');
    Object.defineProperty(this, 'close', {
      value: async (...[handle, options]: Parameters<MemorySessions['close']>) => {
        this.closes.push(options);
        const archived = options?.archive === true && (await this.onArchive());
        return { ...(await this.#close(handle, options)), archived };
      },
    });
  }
}

/** Jobs of threads on a store, over a real repository, with a CLI in memory. */
export interface CodingBench {
  readonly store: Store;
  readonly threads: ThreadStore;
  readonly sessions: CodingSessions;
  readonly bundle: TestBundle;
  readonly workspacesDir: string;
  /** The thread's own folder. */
  readonly root: string;
  readonly progress: WorkerProgress[];
  readonly job: (change?: Partial<ThreadDirective> | 'ephemeral', coding?: Coding, text?: string) => CodingJobInput;
  readonly spec: (job: CodingJobInput, change?: SpecChange) => CodingWorkerSpec;
  readonly run: (job: CodingJobInput, change?: RunChange) => Promise<CodingOutcome>;
  /** Has the CLI write these files into the work tree in its next turns. */
  readonly writes: (files: readonly FileSpec[]) => void;
  readonly bytes: () => Promise<string>;
}

type Coding = Partial<CodingJobInput['coding']>;

/** What a test has otherwise in a spec; `policy` is that of its turn. */
export type SpecChange = Partial<CodingWorkerSpec> & { readonly policy?: WorkerPolicy };

/** What a test sets otherwise. */
export type RunChange = Partial<Omit<CodingJobRun, 'spec'>> & { readonly spec?: SpecChange };

export const BASE: readonly FileSpec[] = [
  { path: 'src/one.txt', content: 'one\n' },
  { path: '.gitignore', content: 'build/\n' },
];

let operations = 0;

/** One repository for all tests of a file: they only read it. */
let source: Promise<{ readonly place: TestPlace; readonly bundle: TestBundle }> | undefined;

function repository() {
  source ??= openTestPlace().then(async (place) => ({ place, bundle: await place.createBundle(BASE) }));
  return source;
}

afterAll(async () => {
  await (await source)?.place[Symbol.asyncDispose]();
});


export async function codingBench(adapterId: keyof typeof POLICIES = NATIVE): Promise<CodingBench> {
  const { store, dataDir } = await temporaryStore();
  const { bundle } = await repository();
  const workspacesDir = join(dataDir, 'w');
  const root = join(workspacesDir, nameThread(threadPlace).slice(0, 24));
  const sessions = new CodingSessions();
  const progress: WorkerProgress[] = [];
  const contract = compatibilityOf(adapterId);
  const ofBench: WorkerPolicy = { ...POLICIES[adapterId], allowedModels: MODELS };
  const spec: CodingBench['spec'] = (job, { policy = ofBench, ...change } = {}) => {
    const turn = buildTurnSpec(job, {
      contract,
      authenticationProfile: 'personal-subscription',
      policy: { schemaVersion: 1, interaction: 'unattended', ...policy },
    });
    return {
      schemaVersion: 1,
      turn,
      operationId: job.coding.thread?.operationId ?? `job-${++operations}`,
      trusted: { ...trusted, manifestDigest: turn.materializationManifestDigest },
      adapterId,
      cli: {},
      otherHomes: [],
      repositoryUriPrefix: bundle.allowedPrefix,
      dataDir,
      workspacesDir,
      git: gitFile,
      inactivityMs: 60_000,
      ...change,
    };
  };
  return {
    ...{ store, sessions, bundle, workspacesDir, root, progress, spec },
    threads: createThreadStore(store),
    job: (change = {}, coding = {}, text = 'Build it.') => jobOf(bundle, { change, coding, text }),
    run: (job, { spec: change, ...rest } = {}) =>
      runCodingJob({
        spec: spec(job, change),
        store,
        sessions,
        signal: new AbortController().signal,
        report: (told) => void progress.push(told),
        ...rest,
      }),
    writes: (files) => {
      sessions.onStep = async (step: Step) => {
        const [running = ''] = sessions.running;
        const { workingDir = '' } = sessions.world.sessions.get(running) ?? {};
        if (step === 'accepted') await put(join(dirname(workingDir), 'work'), files);
      };
    },
    bytes: () =>
      readFile(join(dataDir, 'threads', nameThread(threadPlace)), 'utf8').catch(() => 'absent'),
  };
}

function compatibilityOf(adapterId: string) {
  const adapter = findCodingAdapter(adapterId)?.adapter;
  if (!adapter) throw new TypeError(`there is no adapter ${adapterId}`);
  return { compatibilityDigest: digestAdapter(adapter) };
}

interface JobParts {
  readonly change: Partial<ThreadDirective> | 'ephemeral';
  readonly coding: Coding;
  readonly text: string;
}

function jobOf({ bundle, baseRevision }: TestBundle, { change, coding, text }: JobParts): CodingJobInput {
  const role = coding.role ?? 'implement';
  const thread = {
    ...{ runnerId: 'personal', sessionRef: SESSION, stageId: 'stage-A', mode: 'new' },
    operationId: `op-${++operations}`,
    ...(change === 'ephemeral' ? {} : change),
  } as ThreadDirective;
  return {
    profile: 'coding',
    text,
    coding: {
      repository: bundle,
      baseRevision,
      workspaceRoot: '/workspace/repo',
      allowedTools: role === 'review' ? ['fs.read', 'process.exec'] : ['fs.read', 'fs.write', 'process.exec'],
      maximumPatchBytes: 131_072,
      maximumChangedFiles: 64,
      ...(change === 'ephemeral' ? {} : { thread }),
      ...coding,
    },
  };
}

/** A review of what an implementer made. */
export function reviewOf(outcome: CodingOutcome, prior?: ReviewResult): Coding {
  const { artifact, patch } = outcome;
  if (!artifact || !patch) throw new TypeError('there is nothing to review');
  const requirements = 'It works.';
  return {
    role: 'review',
    reviewInput: {
      reviewId: 'r2',
      repository: 'owner/name',
      requirements,
      requirementsDigest: digestOfText(requirements),
      candidatePatch: patch.patch,
      implementation: artifact,
      ...(prior ? { priorReview: prior } : {}),
    },
  };
}

/** A reviewer's answer about a candidate. */
export function verdictOn({ patch }: CodingOutcome, change: Partial<ReviewResult> = {}): string {
  return JSON.stringify(
    review({ reviewId: 'r2', ...(patch ? { artifactDigest: patch.patchDigest } : {}), ...change }),
  );
}

/** A clock that stands still at an instant. */
export function clockAt(now: number): Clock {
  return { now: () => now, monotonicMs: () => now, sleep: () => new Promise(() => {}) };
}
