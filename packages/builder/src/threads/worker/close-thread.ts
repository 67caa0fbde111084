import type { Agent, AgentSessionHandle } from '@holdfast/agent';
import type { CodingOutcome } from '../coding-job.js';
import { archiveBudgetMs, type CloseOptions } from '../store/close-effect.js';
import type { OpenThread } from '../store/open-thread.js';
import { removeTree } from '../workspace/private-folder.js';
import { planSession } from './coding-session.js';
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
  const isNative = job.found.adapter.archive === 'native';
  const session = isNative ? planSession(job, thread) : undefined;
  const archive = createArchive(job, {
    agent: session?.createAgent(),
    handle: session?.kept?.handle,
  });
  job.enter('close_after_turn');
  const outcome = await thread.close(archive.options).finally(async () => {
    job.enter('end_native');
    await archive.endNative();
  });
  await removeTree(job.root);
  return outcome;
}

/** Tries to end the conversation after its turn; the CLI is ended whatever becomes of that. */
export async function closeAfterTurn(
  job: ValidatedJob,
  thread: Pick<JobThread, 'closeAfterTurn'>,
  agent: Agent,
): Promise<CodingOutcome> {
  job.enter('close_after_turn');
  const archive = createArchive(job, { agent, handle: agent.currentAgentSessionHandle() });
  const outcome = await thread.closeAfterTurn(archive.options);
  job.enter('end_native');
  await archive.endNative();
  if (outcome.thread?.state === 'CLOSED') await removeTree(job.root);
  return outcome;
}

interface Conversation {
  /** Absent where nothing is to be started. */
  readonly agent: Agent | undefined;
  /** Absent where nothing was kept that would find the conversation. */
  readonly handle: AgentSessionHandle | undefined;
}

/** How a conversation is ended, and then its CLI: an archive that came too late may still be at work. */
interface Archive {
  readonly options: CloseOptions;
  readonly endNative: () => Promise<void>;
}

function createArchive(job: ValidatedJob, { agent, handle }: Conversation): Archive {
  const remainingMs = job.remainingMs();
  let attempt: Promise<unknown> | undefined;
  const run = () => {
    const archived = archiveNatively(agent, handle, archiveBudgetMs(remainingMs));
    attempt = archived.catch(() => {});
    return archived;
  };
  const isNative = job.found.adapter.archive === 'native';
  return {
    options: {
      effect: isNative ? { archive: 'native', run } : { archive: 'tombstone' },
      remainingMs,
    },
    endNative: async () => {
      await attempt;
      if (agent) await endNative(agent);
    },
  };
}

async function archiveNatively(
  agent: Agent | undefined,
  handle: AgentSessionHandle | undefined,
  deadlineMs: number,
): Promise<void> {
  if (!agent || !handle) throw new TypeError('nothing is kept that would find the conversation');
  agent.applyAgentSessionHandle(handle);
  const closed = await agent.close({ archive: true, deadlineMs });
  if (closed?.archived !== true) throw new TypeError('the CLI did not say that it archived it');
}
