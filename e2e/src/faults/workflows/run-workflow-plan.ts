import type { HandleJson } from '@holdfast/provider-core/certification';
import { waitFor } from '../../harness/wait-for.js';
import type { WorkflowLine } from '../../workflows/workflow-command.js';
import { startWorkflowProcess, type WorkflowProcess } from '../../workflows/workflow-process.js';
import { countSubAgents, judgeRun, type RunComplaints } from './judge-run.js';
import { listOpenJobs, readExecutions } from './run-files.js';
import type { WorkflowCell, WorkflowTarget } from './workflow-cell.js';
import {
  createWorkflowSubject,
  subAgentPrompts,
  type WorkflowDriver,
  type WorkflowSubject,
} from './workflow-subject.js';

/** One run and the kills it has to live through, one after the other. */
export interface WorkflowPlan {
  readonly driver: WorkflowDriver;
  readonly cells: readonly WorkflowCell[];
  /** What an undisturbed run takes; a kill at a moment comes at a share of it. */
  readonly usualMs: number;
  /** Notes each durable write that is taken in this file, one a line; nothing is killed then. */
  readonly recordFile?: string | undefined;
}

/** What one run came to. */
export interface WorkflowOutcome extends RunComplaints {
  readonly driver: WorkflowDriver;
  /** Those that killed something. */
  readonly fired: readonly WorkflowCell[];
  /** Those whose moment did not come. */
  readonly missed: readonly WorkflowCell[];
  readonly leftover: readonly string[];
  readonly ms: number;
}

const none: RunComplaints = { lost: [], doubled: [], undelivered: [], locksLeft: [] };

/** How long a run may take in all; nothing in it waits longer by itself. */
const DEADLINE_MS = 240_000;

/** Leads one run through its kills with one service after the other, then looks at what it left. */
export async function runWorkflowPlan(plan: WorkflowPlan): Promise<WorkflowOutcome> {
  const started = performance.now();
  const subject = await createWorkflowSubject(plan.driver);
  const services: WorkflowProcess[] = [];
  const fired: WorkflowCell[] = [];
  let complaints = none;
  try {
    const { learningLock } = await strikeAll(subject, { plan, services, fired });
    for (const handle of await listHandles(subject)) await subject.closeSession(handle);
    complaints = await judgeRun(subject, learningLock);
    const called = await countSubAgents(subject);
    if (plan.recordFile && called !== subAgentPrompts.length) {
      complaints = {
        ...complaints,
        lost: [...complaints.lost, `${called} sub-agents were called`],
      };
    }
  } catch (error) {
    complaints = { ...none, lost: [`the run broke: ${describe(error)}`] };
  }
  for (const service of services) await service.kill();
  const leftover = await clearAway(subject);
  const missed = plan.cells.filter((cell) => !fired.includes(cell));
  const ms = Math.round(performance.now() - started);
  return { driver: plan.driver, fired, missed, leftover, ms, ...complaints };
}

interface Strikes {
  readonly plan: WorkflowPlan;
  readonly services: WorkflowProcess[];
  readonly fired: WorkflowCell[];
}

/** Returns how the service that ended the run closed. */
async function strikeAll(
  subject: WorkflowSubject,
  { plan, services, fired }: Strikes,
): Promise<ClosedLine> {
  const start = (env: Readonly<Record<string, string>> = {}) => {
    const service = startWorkflowProcess(subject.command, subject.place.home, env);
    services.push(service);
    return service;
  };
  const { recordFile, cells, usualMs } = plan;
  if (recordFile) {
    return await endBy(subject, start({ HOLDFAST_FAULT_RECORD: recordFile }));
  }
  let service: WorkflowProcess | undefined;
  for (const cell of cells) {
    if (cell.kind === 'write') {
      await service?.kill();
      service = start({ HOLDFAST_FAULT_STEP: `${cell.point}:${cell.nth}` });
      const closed = await findEnd(subject, service);
      if (closed) return closed;
      fired.push(cell);
      service = undefined;
      continue;
    }
    service ??= start();
    const isOver = await waitForEnd(subject, service, cell.share * usualMs);
    if (isOver === 'ended') return await endBy(subject, service);
    if (await strike(subject, service, cell.target)) fired.push(cell);
    if (cell.target === 'service' || cell.target === 'machine') service = undefined;
  }
  return await endBy(subject, service ?? start());
}

type ClosedLine = Extract<WorkflowLine, { readonly type: 'closed' }>;

/** Waits for the end of the run and closes the service. */
async function endBy(subject: WorkflowSubject, service: WorkflowProcess): Promise<ClosedLine> {
  const closed = await findEnd(subject, service);
  if (!closed) throw new Error('The service ended before the run.');
  return closed;
}

/** As {@link endBy}; `undefined` where the service was killed before it was closed. */
async function findEnd(
  subject: WorkflowSubject,
  service: WorkflowProcess,
): Promise<ClosedLine | undefined> {
  if ((await waitForEnd(subject, service)) === 'gone') return undefined;
  service.tell('close');
  let isGone = false;
  void service.gone.then(() => {
    isGone = true;
  });
  const find = () => service.lines.find((line) => line.type === 'closed');
  await waitFor('the service to close', () => isGone || find() !== undefined);
  return find();
}

/** Waits until the run is over with everything it owes, its service is gone, or a time has gone by. */
async function waitForEnd(
  subject: WorkflowSubject,
  service: WorkflowProcess,
  forMs = Number.POSITIVE_INFINITY,
): Promise<'ended' | 'gone' | 'passed'> {
  const began = performance.now();
  let isGone = false;
  void service.gone.then(() => {
    isGone = true;
  });
  let state: 'ended' | 'gone' | 'passed' | undefined;
  const look = async () => {
    const failed = service.lines.find((line) => line.type === 'error');
    if (failed?.type === 'error') throw new Error(failed.error);
    if (isGone) state = 'gone';
    else if (performance.now() - began > forMs) state = 'passed';
    else if (service.lines.some(({ type }) => type === 'ended')) {
      const jobs = await listOpenJobs(subject.command.dataDir);
      if (jobs.length === 0) state = 'ended';
    }
    return state !== undefined;
  };
  await waitFor('the end of the run', look, { deadlineMs: DEADLINE_MS });
  return state ?? 'passed';
}

/** Kills as soon as there is what to kill; tells whether it came before the end of the run. */
async function strike(
  subject: WorkflowSubject,
  service: WorkflowProcess,
  target: WorkflowTarget,
): Promise<boolean> {
  if (target === 'service') {
    await service.kill();
    return true;
  }
  let isHit = false;
  const tryOnce = async () => {
    const [draft] = await listHandles(subject);
    if (!draft) return service.lines.some(({ type }) => type === 'ended');
    if (target === 'machine') await service.kill();
    // The handle stands on disk before its session is there.
    isHit = await subject.lose(draft, target).then(
      () => true,
      () => target === 'machine',
    );
    return isHit || service.lines.some(({ type }) => type === 'ended');
  };
  await waitFor(`a session whose ${target} can be killed`, tryOnce);
  return isHit;
}

/** The sessions of all executions, as their files name them, that of the first step first. */
async function listHandles({ command }: WorkflowSubject): Promise<readonly HandleJson[]> {
  const executions = await readExecutions(command.dataDir);
  const order = executions.toSorted(
    (one, other) => Number(other.step_id === 'draft') - Number(one.step_id === 'draft'),
  );
  return order.flatMap(({ agent_session_handle, phases }) => {
    const own = Object.values(phases).map((phase) => phase.agent_session_handle);
    const all = [agent_session_handle, ...own].filter((handle) => handle !== undefined);
    return [...new Map(all.map((handle) => [String(handle['session_id']), handle])).values()];
  });
}

async function clearAway(subject: WorkflowSubject): Promise<readonly string[]> {
  try {
    await subject[Symbol.asyncDispose]();
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
