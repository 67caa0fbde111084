import { isoInstant, isTurnError, systemClock } from '@holdfast/agent';
import type { BuilderContext } from '../builder-context.js';
import { mapAtMost } from '../engine/at-most.js';
import type { JobView } from '../engine/job-engine.js';
import { EXECUTIONS_QUEUE } from '../executions/execution-context.js';
import { type ExecutionKey, executionIdOf, readExecutionId } from '../executions/execution-key.js';
import { keys } from '../persistence/keys.js';
import type { ContinuationState } from './continuation-state.js';
import { readContinuationState, writeContinuationState } from './continuation-state-file.js';
import { removeAbandonedTickets } from './inspect-learning-lock.js';
import { compareInstants } from './instant-order.js';
import { findStep } from './phase-plan.js';
import { changePhase } from './phase-record.js';
import { findHold, findWait, keepWait } from './phase-wait.js';
import { isSettled, PHASES, type Phase } from './phases.js';
import type { ExecutionRecovery, Verdict } from './recovery-report.js';
import { glanceAtState, type StateGlance } from './state-glance.wire.js';
import { upgradeState } from './upgrade-schema-1.js';
import { isCodingStep } from './workflow-definition.js';

/** What recovery needs of a builder. */
export type RecoveryContext = Pick<
  BuilderContext,
  'store' | 'engine' | 'agents' | 'workflows' | 'logger'
>;

const AT_ONCE = 8;

/**
 * Looks through every open execution before the engine begins: what a dead process left in the middle is queued for recovery in
 * one write under the execution's lease, what a live one drives is left alone. Run twice, or by two builders at once, it
 * changes nothing more.
 */
export async function recoverExecutions(context: RecoveryContext): Promise<ExecutionRecovery> {
  const jobs = await context.engine.list(EXECUTIONS_QUEUE);
  const verdicts = await mapAtMost(AT_ONCE, jobs, (job) => recoverOne(context, job));
  await tidyLocks(context);
  return reportOf(verdicts);
}

/** The report of what was made of some executions, oldest first. */
export function reportOf(verdicts: readonly Verdict[]): ExecutionRecovery {
  const inOrder = verdicts.toSorted((a, b) => compareInstants(a.createdAt, b.createdAt));
  const shown = inOrder.map(({ createdAt: _createdAt, ...verdict }) => verdict);
  return {
    found: shown.map(({ executionId, phase, why }) => ({ executionId, phase, why })),
    queued: shown.flatMap((one) => (one.reason === undefined ? [one] : [])),
    left: shown.flatMap((one) => (one.reason === undefined ? [] : [one])),
  };
}

async function recoverOne(context: RecoveryContext, job: JobView): Promise<Verdict> {
  const known = { executionId: job.id, createdAt: job.enqueuedAt };
  if (job.state === 'running') {
    return { ...known, reason: 'live_owner', why: 'a live process drives it' };
  }
  try {
    return await queueRecovery(context, job.id, known.createdAt, job);
  } catch (error) {
    // One execution that cannot be read or written must not keep the others from going on.
    const why = error instanceof Error ? error.message : String(error);
    context.logger?.warn({ execution_id: job.id, err: error }, 'execution not recovered');
    const isBusy = isTurnError(error) && error.kind === 'session_busy';
    return { ...known, reason: isBusy ? 'live_owner' : 'unreadable', why };
  }
}

/**
 * Queues the phase in which an execution was left, in one write under its lease, and says what became of it. Where nothing is to be
 * written no lease is taken.
 */
export async function queueRecovery(
  context: RecoveryContext,
  executionId: string,
  createdAt: string,
  job?: JobView,
): Promise<Verdict> {
  const { store } = context;
  const key = readExecutionId(executionId);
  const execution = { key, createdAt, job };
  const known = (await glance(context, execution)) ?? (await look(context, execution));
  if (known) return known;
  const { lease } = await store.acquire(keys.executionLease(key));
  if (!lease) {
    const why = 'a live process has its lease';
    return { executionId, createdAt, reason: 'live_owner', why };
  }
  await using _lease = lease;
  const { verdict, next } = await decide(context, execution);
  if (next) await writeContinuationState(store, key, next, lease);
  return verdict;
}

/** The verdict where a look at the state as it stands says that nothing is to be written. */
async function glance(
  context: RecoveryContext,
  { key, job }: OpenExecution,
): Promise<Verdict | undefined> {
  const read = await context.store.read(keys.state(key));
  const state = read.state === 'present' ? glanceAtState(read.value, key) : undefined;
  if (!state) return undefined;
  const verdict = judge(context, state, job);
  return verdict.reason !== undefined || !isToBeQueued(state) ? verdict : undefined;
}

/** The same by the whole state, where nobody drives it. */
async function look(
  context: RecoveryContext,
  execution: OpenExecution,
): Promise<Verdict | undefined> {
  const seen = await context.store.observe(keys.executionLease(execution.key));
  if (seen.state !== 'free') return undefined;
  const { verdict, next } = await decide(context, execution);
  return next ? undefined : verdict;
}

interface OpenExecution {
  readonly key: ExecutionKey;
  readonly createdAt: string;
  readonly job: JobView | undefined;
}

/** What is to be made of an execution as it stands on disk; `next` only where its state changes for that. */
async function decide(
  context: RecoveryContext,
  { key, createdAt, job }: OpenExecution,
): Promise<Pick<Decision, 'verdict'> & { readonly next?: ContinuationState }> {
  const read = await readContinuationState(context.store, key);
  const unknown = { executionId: executionIdOf(key), createdAt };
  if (read.state === 'absent') {
    return { verdict: { ...unknown, why: 'it was begun and has no state yet' } };
  }
  if (read.state === 'set_aside') {
    const why = `its state was set aside as ${read.movedTo}`;
    return { verdict: { ...unknown, reason: read.reason, why } };
  }
  const { verdict, next } = judgeState(context, read.value, job);
  // What is left stays as it is, byte for byte.
  return verdict.reason === undefined && next !== read.value ? { verdict, next } : { verdict };
}

/** A state, or what a glance at it tells. */
type JudgedState = ContinuationState | StateGlance;

/** What is made of a state, and what it becomes for that. */
interface Decision {
  readonly verdict: Verdict;
  readonly next: ContinuationState;
  readonly owes: boolean;
}

/** What becomes of an execution; one of schema 1 first becomes one that can be driven, where its step is known. Pure but for the time. */
export function judgeState(
  context: RecoveryContext,
  state: ContinuationState,
  job?: JobView,
): Decision {
  const { executionId, createdAt, schemaVersion } = state;
  const upgrade =
    schemaVersion > 1
      ? { type: 'upgraded' as const, state }
      : upgradeState(state, context.workflows, isoInstant(systemClock));
  if (upgrade.type === 'upgraded') {
    const verdict = judge(context, upgrade.state, job);
    const owes = upgrade.state.outcome === 'open';
    return { verdict, next: withQueuedPhase(upgrade.state), owes };
  }
  if (upgrade.type === 'settled') {
    return {
      verdict: { executionId, createdAt, why: 'it owes nothing' },
      next: state,
      owes: false,
    };
  }
  const { reason, why } = upgrade;
  const phase = findOpenPhase(state);
  return { verdict: { executionId, createdAt, phase, reason, why }, next: state, owes: true };
}

/** The phase that was cut off is marked, once. What waits for an instant or for a person goes on waiting for it. */
function withQueuedPhase(state: ContinuationState): ContinuationState {
  const phase = findOpenPhase(state);
  const record = phase && state.phases[phase];
  if (!phase || !record || !isToBeQueued(state)) return state;
  const updatedAt = isoInstant(systemClock);
  const wait = keepWait(record, systemClock.now());
  return changePhase(state, phase, {
    ...wait,
    status: 'recovery_queued',
    lease: undefined,
    updatedAt,
  });
}

function isToBeQueued(state: JudgedState): boolean {
  const phase = findOpenPhase(state);
  if (state.outcome !== 'open' || phase === undefined) return false;
  return state.phases[phase]?.status !== 'recovery_queued';
}

/** The first phase that is not settled. */
function findOpenPhase({ phases }: Pick<JudgedState, 'phases'>): Phase | undefined {
  return PHASES.find((phase) => {
    const record = phases[phase];
    return record !== undefined && !isSettled(record.status);
  });
}

function judge(
  { agents, workflows }: RecoveryContext,
  state: JudgedState,
  job: JobView | undefined,
): Verdict {
  const { executionId, createdAt, agent = '', workflowId, outcome } = state;
  const phase = findOpenPhase(state);
  const known = { executionId, createdAt, phase };
  if (outcome !== 'open') return { ...known, why: `it is ${outcome}, and only its job is left` };
  const needsSession = phase !== 'auto_notification';
  const found = findStep(workflows, state);
  if (needsSession && found.state === 'unknown') {
    const why = `the step or the workflow ${workflowId} is not registered`;
    return { ...known, reason: 'unknown_workflow', why };
  }
  if (needsSession && !isCodingStep(found.step) && !agents.has(agent)) {
    return { ...known, reason: 'unregistered_agent', why: `the agent ${agent} is not registered` };
  }
  if (job?.state === 'parked') return { ...known, reason: 'parked', why: job.reason ?? 'parked' };
  const record = phase && state.phases[phase];
  // Its job is parked right after the phase; an end in between leaves the job waiting.
  const held = findHold(record);
  if (held !== undefined) return { ...known, reason: 'parked', why: held };
  const until = findWait(record, systemClock.now()) ?? job?.notBefore;
  if (until !== undefined && compareInstants(until, isoInstant(systemClock)) > 0) {
    return { ...known, reason: 'not_before', why: `it waits until ${until}` };
  }
  return { ...known, why: phase ? `${phase} is gone on with` : 'all that is left is its end' };
}

/** A place in the line for a learning lock is given up once its execution has ended. */
async function tidyLocks({ store, logger }: RecoveryContext): Promise<void> {
  const isOwed = async (executionId: string): Promise<boolean> => {
    const read = await readContinuationState(store, readExecutionId(executionId));
    return read.state === 'present' ? read.value.outcome === 'open' : read.state === 'set_aside';
  };
  for (const name of await store.list(keys.lock('any').slice(0, 1))) {
    try {
      await removeAbandonedTickets(store, name, isOwed);
    } catch (error) {
      // It holds nobody up: those who are not there are passed over.
      logger?.warn({ lock: name, err: error }, 'places at a learning lock not tidied');
    }
  }
}
