import type { JsonValue, Store } from '../../../persistence/store.js';
import type { CodingJobInput, CodingOutcome, Finding } from '../../coding-job.js';
import { CodingThreadError } from '../../coding-thread-error.js';
import { DIGEST, jobRules, review } from '../../contract/__fixtures__/coding-jobs.js';
import { digestOfJson, digestOfText } from '../../contract/canonical-json.js';
import { decodeCodingJob } from '../../contract/coding-job.wire.js';
import type { CodingJobHandle, CodingJobs, SubmitCodingJob } from '../../scheduling/coding-jobs.js';
import type { TrustedBinding } from '../../contract/thread-binding.js';
import type { OpenThread } from '../../store/open-thread.js';
import type { ThreadResult } from '../../store/thread-record.js';
import { createThreadStore, type OpenThreadRequest } from '../../store/thread-store.js';
import { describeWorkerError, restoreWorkerError } from '../../worker/worker-error.js';
import type { WorkerEnd } from '../../worker/worker-spec.js';

/** Where a scripted worker is lost; nobody hears of it again. */
export type LostAt = 'opened' | 'claimed' | 'submitted' | 'validated' | 'committed';

/** What a scripted worker does with one job of its role. */
export type Act =
  | { readonly patch: string; readonly claims?: readonly string[]; readonly message?: string }
  | { readonly findings: readonly string[] }
  | 'no-change'
  | { readonly lost: LostAt; readonly result?: Act }
  | { readonly error: Error }
  | { readonly end: WorkerEnd }
  | { readonly closeFails: number };

/** What the workers do: one list a role, in the order of its jobs; the last one is repeated. */
export interface Script {
  readonly implement: readonly Act[];
  readonly review: readonly Act[];
  readonly close?: readonly Act[];
  /** What the final reviewer does, told by its model. */
  readonly final?: readonly Act[];
}

/** One job as it came in. */
export interface SeenJob {
  readonly jobId: string;
  readonly line: string;
  readonly input: CodingJobInput;
}

export const trustedBy = {
  scope: DIGEST,
  authenticationProfile: 'personal-subscription',
  adapterContractDigest: DIGEST,
  manifestDigest: DIGEST,
} as const;

interface KeptJob {
  readonly inputDigest: string;
  end?: WorkerEnd | undefined;
  readonly ended: AbortController;
  acknowledged: boolean;
}

/** Jobs that outlive every process of a test: each is run once, on a real thread store. */
export class ScriptedJobs implements CodingJobs {
  readonly seen: SeenJob[] = [];
  readonly jobs = new Map<string, KeptJob>();
  /** Called before a job is taken in. */
  onSubmit: (request: SubmitCodingJob) => void | Promise<void> = () => {};
  /** Ends a job in place of its script; one that is held ends once it is cancelled. */
  onRun: ((jobId: string) => Promise<WorkerEnd | 'held' | undefined>) | undefined;
  readonly #worker: ScriptedWorker;

  constructor(store: Store, script: Script) {
    this.#worker = new ScriptedWorker(store, script);
  }

  readonly list = async () => [];

  readonly find = async (jobId: string) =>
    this.jobs.has(jobId) ? this.#handle(jobId) : undefined;

  readonly submit = async (request: SubmitCodingJob): Promise<CodingJobHandle> => {
    const { jobId } = request;
    const input = decodeCodingJob(request.input, { ...jobRules, allowedModels: ['final'] });
    const inputDigest = digestOfJson(JSON.parse(JSON.stringify(input)) as JsonValue);
    await this.onSubmit(request);
    const known = this.jobs.get(jobId);
    if (known && known.inputDigest !== inputDigest)
      throw new CodingThreadError('operation_conflict', 'another input');
    if (!known) {
      this.seen.push({ jobId, line: describeJob(input), input });
      const kept: KeptJob = { inputDigest, ended: new AbortController(), acknowledged: false };
      this.jobs.set(jobId, kept);
      const end = (await this.onRun?.(jobId)) ?? (await this.#worker.run(input));
      if (end !== 'held') kept.end = end;
    }
    return this.#handle(jobId);
  };

  #handle(jobId: string): CodingJobHandle {
    const job = this.jobs.get(jobId);
    if (!job) throw new TypeError(jobId);
    return {
      jobId,
      view: async () => ({
        jobId,
        runnerId: 'personal',
        state: 'SUCCEEDED',
        end: job.end,
        acknowledged: job.acknowledged,
        submittedAt: '',
        deadlineAt: '',
        attempt: 1,
      }),
      result: async ({ signal } = {}) => {
        if (!job.end) await aborted(signal ? AbortSignal.any([signal, job.ended.signal]) : job.ended.signal);
        signal?.throwIfAborted();
        if (job.end?.class === 'success') return job.end.outcome;
        if (job.end?.class === 'failed') throw restoreWorkerError(job.end.error);
        const kind = job.end?.class === 'cancelled' ? 'job_cancelled' : 'execution_unknown';
        throw new CodingThreadError(kind, 'see its end');
      },
      acknowledge: async () => {
        job.acknowledged = true;
      },
      cancel: async (reason) => {
        job.end ??= { class: 'cancelled', reason };
        job.ended.abort();
      },
    };
  }
}

/** A worker that does what its script says, on the threads of a store. */
export class ScriptedWorker {
  readonly #counts = new Map<string, number>();

  constructor(
    readonly store: Store,
    readonly script: Script,
  ) {}

  #nextAct(job: CodingJobInput): Act | undefined {
    const list = listActs(this.script, job);
    const at = this.#counts.get(list.name) ?? 0;
    this.#counts.set(list.name, at + 1);
    return list.acts[Math.min(at, list.acts.length - 1)];
  }

  async run(job: CodingJobInput, trusted: TrustedBinding = trustedBy): Promise<WorkerEnd> {
    const act = this.#nextAct(job);
    try {
      return await this.#act({ job, trusted }, act);
    } catch (error) {
      return { class: 'failed', error: describeWorkerError(error) };
    }
  }

  async #act({ job, trusted }: OpenThreadRequest, act: Act | undefined): Promise<WorkerEnd> {
    if (act && act !== 'no-change' && 'end' in act) return act.end;
    const threads = createThreadStore(this.store);
    const { thread, replayed } = await threads.open({ job, trusted });
    if (!thread) return { class: 'success', outcome: replayed };
    await using opened = thread;
    if (act && act !== 'no-change' && 'error' in act) throw act.error;
    if (job.coding.thread?.mode === 'close')
      return { class: 'success', outcome: await opened.close({ effect: { archive: 'tombstone' } }) };
    const { lost, result } = resultOf(job, act);
    const outcome = await takeTurn(opened, result, lost);
    return outcome ? { class: 'success', outcome } : { class: 'unknown', reason: `lost at ${lost}` };
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

async function takeTurn(
  thread: OpenThread,
  result: ThreadResult,
  lost: LostAt | undefined,
): Promise<CodingOutcome | undefined> {
  if (lost === 'opened') return undefined;
  await thread.claim('turn-1');
  if (lost === 'claimed') return undefined;
  await thread.noteNative('native-1');
  await thread.noteTurn('turn-1');
  if (lost === 'submitted') return undefined;
  await thread.noteResult(result);
  if (lost === 'validated') return undefined;
  const outcome = await thread.commit();
  return lost === 'committed' ? undefined : outcome;
}

function listActs(script: Script, { coding }: CodingJobInput) {
  if (coding.thread?.mode === 'close') return { name: 'close', acts: script.close ?? [] };
  if (coding.nativeModel === 'final') return { name: 'final', acts: script.final ?? [] };
  return coding.role === 'review'
    ? { name: 'review', acts: script.review }
    : { name: 'implement', acts: script.implement };
}

function resultOf(job: CodingJobInput, act: Act | undefined): { lost?: LostAt; result: ThreadResult } {
  if (act !== undefined && act !== 'no-change' && 'lost' in act) {
    const done = act.result ?? (job.coding.role === 'review' ? { findings: [] } : { patch: '1' });
    return { lost: act.lost, result: resultOf(job, done).result };
  }
  return { result: { outcome: outcomeFor(job, act) } };
}

function outcomeFor(job: CodingJobInput, act: Act | undefined): ThreadResult['outcome'] {
  const { reviewInput, baseRevision } = job.coding;
  const evidence = {};
  if (reviewInput) {
    const ids = act && act !== 'no-change' && 'findings' in act ? act.findings : [];
    const { reviewId, implementation } = reviewInput;
    const found = review({
      reviewId,
      artifactDigest: implementation.patchDigest,
      verdict: ids.length > 0 ? 'changes-required' : 'approved',
      findings: ids.map(findingOf),
    });
    return { outcome: 'reviewed', review: found, evidence };
  }
  if (act === 'no-change' || !act || !('patch' in act)) {
    const patch = { baseRevision, patch: '', patchDigest: digestOfText(''), changedPaths: [] };
    return { outcome: 'no-change', patch, evidence };
  }
  const patch = patchOf(act.patch);
  const patchDigest = digestOfText(patch);
  const changedPaths = ['src/one.txt'];
  return {
    outcome: 'implemented',
    patch: { baseRevision, patch, patchDigest, changedPaths },
    artifact: {
      schemaVersion: 1,
      adapterContractDigest: DIGEST,
      repositoryDigest: DIGEST,
      ...{ baseRevision, patchDigest, changedPaths },
      validationEvidence: [{ command: ['make', 'test'], status: 'passed', exitCode: 0 }],
      resolvedFindingIds: act.claims ?? [],
    },
    ...(act.message !== undefined && { finalMessage: act.message }),
    evidence,
  };
}

/** A patch that writes one line. */
export function patchOf(line: string): string {
  return [
    'diff --git a/src/one.txt b/src/one.txt',
    '--- a/src/one.txt',
    '+++ b/src/one.txt',
    '@@ -1 +1 @@',
    '-zero',
    `+${line}`,
    '',
  ].join('\n');
}

function findingOf(findingId: string): Finding {
  const [found] = review().findings;
  if (!found) throw new TypeError('no finding');
  return { ...found, findingId };
}

/** A job in one line: who, how, and what it was given. */
export function describeJob({ coding }: CodingJobInput): string {
  const { thread, reviewInput, remediation, nativeModel, role = 'implement' } = coding;
  const who = nativeModel === 'final' ? 'final' : role;
  const given = [
    reviewInput && `candidate ${lineOf(reviewInput.candidatePatch)}`,
    reviewInput?.priorReview && `after ${idsOf(reviewInput.priorReview.findings)}`,
    remediation && `mend ${idsOf(remediation.priorReview.findings)}`,
  ].filter((one) => one !== undefined);
  return [who, thread?.mode, ...given].join(' ');
}

function lineOf(patch: string): string {
  return patch.match(/^\+(?!\+)(.*)$/m)?.[1] ?? '';
}

function idsOf(findings: readonly Finding[]): string {
  return findings.map(({ findingId }) => findingId).join(',');
}
