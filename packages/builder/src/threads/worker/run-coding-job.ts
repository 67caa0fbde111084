import type { Agent } from '@holdfast/agent';
import type { CodingOutcome } from '../coding-job.js';
import { storePatch } from '../workspace/patch-artifacts.js';
import { removeTree } from '../workspace/private-folder.js';
import type { Workspace } from '../workspace/workspace.js';
import { checkPayer } from './check-payer.js';
import { closeAfterTurn, closeByDirective } from './close-thread.js';
import { writePrompt } from './coding-prompt.js';
import {
  type CodingSession,
  planSession,
  prepareNative,
  writablePathsOf,
} from './coding-session.js';
import { endNative } from './end-native.js';
import type { CodingJobRun, ValidatedJob } from './job-run.js';
import { createEphemeralThread, type JobThread, openJobThread } from './job-thread.js';
import { judgeFailedTurn } from './judge-failed-turn.js';
import { beginNativeTurn, type NativeTurn } from './native-turn.js';
import { prepareWorkspace } from './prepare-workspace.js';
import { validateResult } from './validate-result.js';
import { validateSpec } from './validate-spec.js';

/**
 * One try of one coding job, from its spec to its outcome. What was committed under its operation is given again, and
 * nothing is done. Rejects with a `CodingThreadError`, or, before the thread is claimed, with the agent's own typed error.
 */
export async function runCodingJob(run: CodingJobRun): Promise<CodingOutcome> {
  const job = validateSpec(run);
  const { thread: directive } = job.coding;
  if (!directive) return await runEphemeral(job);
  const { thread, replayed } = await openJobThread(job);
  if (!thread) return replayed;
  await using opened = thread;
  if (directive.mode === 'close') return await closeByDirective(job, opened);
  return await runTurn(job, opened);
}

/** Nothing of a job without a directive stays. */
async function runEphemeral(job: ValidatedJob): Promise<CodingOutcome> {
  job.enter('open_thread');
  try {
    return await runTurn(job, createEphemeralThread(job.spec.operationId));
  } finally {
    await removeTree(job.root);
  }
}

async function runTurn(job: ValidatedJob, thread: JobThread): Promise<CodingOutcome> {
  const session = planSession(job, thread);
  const workspace = await prepareWorkspace(job, thread);
  job.enter('prepare_native');
  // Sessions that were handed in have no CLI.
  if (!job.sessions) await checkPayer(job);
  const agent = await prepareNative(session);
  const { coding } = job;
  const writableRoots = writablePathsOf(job);
  const message = writePrompt({ text: coding.prompt, coding, workspace, writableRoots });
  const turn = beginNativeTurn({ job, thread, session, agent, message });
  const running = { job, thread, session, workspace, agent, turn };
  const committed = await commitResult(running).catch((error: unknown) => giveUp(running, error));
  return await finish(running, committed);
}

interface RunningJob {
  readonly job: ValidatedJob;
  readonly thread: JobThread;
  readonly session: CodingSession;
  readonly workspace: Workspace;
  readonly agent: Agent;
  readonly turn: NativeTurn;
}

/** From the turn's end to the commit nothing is cut short: a cancel that comes now does not cost what was done. */
async function commitResult(running: RunningJob): Promise<CodingOutcome> {
  const { job, thread, turn } = running;
  const ended = await turn.result;
  job.enter('validate_result');
  const validationEvidence = turn.validationEvidence();
  const result = await validateResult({ ...running, turn: ended, validationEvidence });
  job.enter('report_patch');
  const { patch } = result.outcome;
  if (patch && patch.patch !== '') await storePatch(job.store, patch.patch);
  await thread.noteResult(result);
  job.enter('commit');
  return await thread.commit();
}

async function giveUp({ job, thread, agent, turn }: RunningJob, error: unknown): Promise<never> {
  const isEnded = await endNative(agent);
  if (!turn.isClaimed()) throw error;
  const { turnId } = turn;
  const sessionRef = job.coding.thread?.sessionRef;
  throw await judgeFailedTurn({ thread, sessionRef, turnId, error, isEnded });
}

/** What is committed stays so, whatever becomes of the conversation's close and of the CLI's end. */
async function finish(
  { job, thread, agent }: RunningJob,
  committed: CodingOutcome,
): Promise<CodingOutcome> {
  const { thread: directive } = job.coding;
  if (directive?.closeAfterTurn === true) return await closeAfterTurn(job, thread, agent);
  job.enter('end_native');
  // Nobody goes on with the conversation of a job without a directive.
  await endNative(agent, { archive: !directive && job.found.adapter.archive === 'native' });
  return committed;
}
