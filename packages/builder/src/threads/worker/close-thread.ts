import type { Agent, AgentSessionHandle } from '@holdfast/agent';
import type { CodingOutcome } from '../coding-job.js';
import { archiveBudgetMs, type CloseOptions } from '../store/close-effect.js';
import type { OpenThread } from '../store/open-thread.js';
import { removeTree } from '../workspace/private-folder.js';
import { type CodingSession, planSession } from './coding-session.js';
import { endNative } from './end-native.js';
import type { ValidatedJob } from './job-run.js';
import type { JobThread } from './job-thread.js';

/** The whole of a `close` directive: claims nothing, and starts nothing where a tombstone is all there is. */
export async function closeByDirective(
  job: ValidatedJob,
  thread: OpenThread,
): Promise<CodingOutcome> {
  job.signal.throwIfAborted();
  job.enter('prepare_native');
  const archive = archiveOf(job, thread);
  job.enter('close_after_turn');
  try {
    return await thread.close(archive.options);
  } finally {
    job.enter('end_native');
    await archive.settled();
  }
}

/** What ends a conversation that its own turn has not just ended. */
function archiveOf(job: ValidatedJob, thread: Pick<JobThread, 'adapterState'>): Archive {
  const isNative = job.found.adapter.archive === 'native';
  const session = isNative ? planSession(job, thread) : undefined;
  return createArchive(job, session && archivableOf(session));
}

function archivableOf({ createAgent, kept }: CodingSession): Archivable {
  return { agent: createAgent(), handle: kept?.handle };
}

/** A conversation that its CLI can put away. */
export interface Archivable {
  readonly agent: Agent;
  /** Absent where nothing was kept that would find it. */
  readonly handle: AgentSessionHandle | undefined;
}

/** How a conversation is ended, and the end of that: an archive that came too late may still be at work. */
export interface Archive {
  readonly options: CloseOptions;
  /** Settles once nothing of it runs any longer; the thread's place goes when the conversation was ended. */
  readonly settled: () => Promise<void>;
}

/** Ends a conversation natively where its CLI can, in what is left of the job's time; otherwise by our own record alone. */
export function createArchive(job: ValidatedJob, archivable: Archivable | undefined): Archive {
  const remainingMs = job.remainingMs();
  if (job.found.adapter.archive === 'tombstone' || !archivable) {
    return {
      options: { effect: { archive: 'tombstone' }, remainingMs },
      settled: () => removeTree(job.root),
    };
  }
  let attempt: Promise<void> | undefined;
  const run = () => {
    attempt = archiveNatively(archivable, archiveBudgetMs(remainingMs));
    return attempt;
  };
  return {
    options: { effect: { archive: 'native', run }, remainingMs },
    settled: async () => {
      const isArchived = attempt !== undefined && (await isKept(attempt));
      if (isArchived) await removeTree(job.root);
      else await endNative(archivable.agent);
    },
  };
}

async function archiveNatively({ agent, handle }: Archivable, deadlineMs: number): Promise<void> {
  if (!handle) throw new TypeError('nothing is kept that would find the conversation');
  agent.applyAgentSessionHandle(handle);
  const closed = await agent.close({ archive: true, deadlineMs });
  if (closed?.archived !== true) throw new TypeError('the CLI did not say that it archived it');
}

async function isKept(promise: Promise<void>): Promise<boolean> {
  return await promise.then(
    () => true,
    () => false,
  );
}
