import type { Store } from '../../../persistence/store.js';
import type { CodingJobInput, CodingOutcome, ThreadDirective } from '../../coding-job.js';
import {
  artifact,
  DIGEST,
  implementJob,
  PATCH,
} from '../../contract/__fixtures__/coding-jobs.js';
import { digestOfText } from '../../contract/canonical-json.js';
import type { TrustedBinding } from '../../contract/thread-binding.js';
import type { CloseOptions } from '../close-effect.js';
import type { OpenThread } from '../open-thread.js';
import { createThreadStore, type ThreadStore } from '../thread-store.js';

export const SESSION = '019a0000-0000-7000-8000-00000000000a';
export const trusted: TrustedBinding = {
  scope: DIGEST,
  authenticationProfile: 'personal-subscription',
  adapterContractDigest: DIGEST,
  manifestDigest: DIGEST,
};
export const place = { scope: DIGEST, sessionRef: SESSION };
export const tombstone: CloseOptions = { effect: { archive: 'tombstone' } };

/** A job on the one thread of these tests. */
export function jobOf(
  change: Partial<ThreadDirective>,
  coding: Partial<CodingJobInput['coding']> = {},
): CodingJobInput {
  const directive = { runnerId: 'personal', sessionRef: SESSION, stageId: 'stage-A', mode: 'new' };
  return implementJob({ thread: { ...directive, ...change } as ThreadDirective, ...coding });
}

/** Opens a thread that must be free to go on. */
export async function openFresh(threads: ThreadStore, job: CodingJobInput): Promise<OpenThread> {
  const { thread, replayed } = await threads.open({ job, trusted });
  if (!thread) throw new TypeError(`it was replayed: ${JSON.stringify(replayed)}`);
  return thread;
}

export const result = {
  outcome: {
    outcome: 'implemented',
    patch: {
      baseRevision: 'a'.repeat(40),
      patch: PATCH,
      patchDigest: digestOfText(PATCH),
      changedPaths: ['src/one.txt'],
    },
    artifact: artifact(),
    evidence: { threadId: 'native-1' },
  },
  adapterState: { model: 'model-a' },
} as const;

/** All steps of a turn that goes well. */
export async function takeTurn(thread: OpenThread): Promise<CodingOutcome> {
  await thread.claim();
  await thread.noteNative('native-1');
  await thread.noteTurn('turn-1');
  await thread.noteResult(result);
  return await thread.commit();
}

/** One job from open to the end of its turn, answered from the store where it was done already. */
export async function runJob(
  store: Store,
  job: CodingJobInput,
  close?: CloseOptions,
): Promise<CodingOutcome> {
  const { thread, replayed } = await createThreadStore(store).open({ job, trusted });
  if (!thread) return replayed;
  await using opened = thread;
  if (job.coding.thread?.mode === 'close') return await opened.close(close ?? tombstone);
  const outcome = await takeTurn(opened);
  return close ? await opened.closeAfterTurn(close) : outcome;
}
