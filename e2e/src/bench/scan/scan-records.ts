/** Where one step stands below `runs/`. */
export interface StepPlace {
  readonly iteration: string;
  readonly group: string;
  readonly step: string;
}

const AT = '2026-11-29T20:00:00.000Z';
const FAR = '2126-01-01T00:00:00.000Z';

/** The id of a step's execution, which is its job's as well. */
export function idOf({ iteration, group, step }: StepPlace): string {
  return `${iteration}~${group}~${step}`;
}

/** A state as the builder writes it, of 2.8 kB: finished, or waiting for an instant that is far away. */
export function stateText(place: StepPlace, outcome: 'completed' | 'open'): string {
  const id = idOf(place);
  const provider = {
    ...{ provider: 'some-cli', transport: 'structured', native_session_id: turnIdOf(0) },
    ...{ working_dir: '/srv/project', status: 'idle', schema_version: 1, revision: 3 },
  };
  const handle = {
    ...{ agent_id: `writer:${id}`, session_id: id, owner_id: id, scope: 'workflow_step' },
    ...{ correlation_id: `${place.iteration}~${place.group}`, provider },
  };
  return `${JSON.stringify({
    ...{ schema_version: 2, run_folder: `${place.iteration}/${place.group}` },
    ...{ step_id: place.step, owner_kind: 'workflow_step', agent_session_handle: handle },
    phases: outcome === 'completed' ? finishedPhases(handle) : openPhases(handle),
    ...{ updated_at: AT, execution_id: id, workflow_id: 'report', agent: 'writer' },
    ...{ correlation_id: `${place.iteration}~${place.group}`, created_at: AT, outcome },
    answer: ANSWER,
  })}\n`;
}

/** The job of an open step, which waits as long as its state says. */
export function jobText(place: StepPlace, number: number): string {
  const id = idOf(place);
  const order = `${AT.replaceAll(':', '-')}~${String(number).padStart(12, '0')}~00000000`;
  return `${JSON.stringify({
    ...{ schema_version: 1, queue: 'executions', id, enqueued_at: AT, order, attempt: 1 },
    ...{ state: 'waiting', reason: 'rate_limited', not_before: FAR },
    payload: { execution_id: id },
  })}\n`;
}

const ANSWER = 'The draft stands in draft.md, with its title and its three sources. '.repeat(3);

function finishedPhases(handle: unknown) {
  const settled = (status: string) => ({ status, updated_at: AT, attempt: 1 });
  return {
    main_execution: mainPhase('completed', handle, 2),
    pre_validation: { ...settled('completed'), started_at: AT, completed_at: AT },
    kb_review: settled('skipped'),
    direct_learning: settled('skipped'),
    auto_notification: { ...settled('completed'), started_at: AT, completed_at: AT },
  };
}

function openPhases(handle: unknown) {
  const suspended = { reason: 'rate_limited', until: FAR, detail: 'the window is used up' };
  return { main_execution: { ...mainPhase('recovery_queued', handle, 1), suspended } };
}

function mainPhase(status: string, handle: unknown, turns: number) {
  const state = status === 'completed' ? 'completed' : 'open';
  return {
    ...{ status, agent_session_handle: handle, updated_at: AT, attempt: 1 },
    turn_id: turnIdOf(turns - 1),
    turns: Array.from({ length: turns }, (_, number) => ({
      ...{ turn_id: turnIdOf(number), message: 'Write the draft of the report.' },
      ...{ kind: number === 0 ? 'prompt' : 'validation_feedback', state },
      ...(state === 'completed' ? { answer: ANSWER } : {}),
    })),
    started_at: AT,
  };
}

function turnIdOf(number: number): string {
  return `0000000${number}-0000-4000-8000-000000000000`;
}
