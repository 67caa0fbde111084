import { type ExecutionKey, executionIdOf } from '../executions/execution-key.js';
import {
  type Check,
  hasShape,
  isNumber,
  isObject,
  isText,
  oneOf,
  orAbsent,
} from '../persistence/has-shape.js';
import {
  CONTINUATION_STATE_SCHEMA,
  type ContinuationState,
  type PhaseRecord,
} from './continuation-state.js';
import { PHASES, type Phase } from './phases.js';

/** What a look at a phase tells. */
export type PhaseGlance = Pick<PhaseRecord, 'status' | 'updatedAt' | 'notBefore' | 'suspended'>;

/** What a look at a state tells: enough to say what becomes of an execution of which nothing is to be written. */
export interface StateGlance
  extends Pick<
    ContinuationState,
    'executionId' | 'createdAt' | 'agent' | 'workflowId' | 'ownerKind' | 'stepId' | 'outcome'
  > {
  readonly phases: { readonly [Name in Phase]?: PhaseGlance | undefined };
}

/**
 * Reads what recovery needs of a state of this version, some ten times as fast as its codec. Every field that the codec checks is
 * checked, so that no damage is overlooked; `undefined` wherever anything is not as this version writes it: then the codec
 * says what it is.
 */
export function glanceAtState(value: unknown, key: ExecutionKey): StateGlance | undefined {
  if (!hasShape(value, STATE)) return undefined;
  // Each field was checked above.
  const state = value as WireState;
  return {
    executionId: executionIdOf(key),
    createdAt: state.created_at,
    agent: state.agent,
    workflowId: state.workflow_id,
    ownerKind: state.owner_kind,
    stepId: state.step_id,
    outcome: state.outcome,
    phases: Object.fromEntries(
      PHASES.flatMap((phase) => {
        const record = state.phases[phase];
        return record ? [[phase, glanceAtPhase(record)] as const] : [];
      }),
    ),
  };
}

function glanceAtPhase({ status, updated_at, not_before, suspended }: WirePhase): PhaseGlance {
  return {
    status,
    updatedAt: updated_at,
    notBefore: not_before,
    suspended: suspended && { ...suspended, detail: suspended.detail ?? '' },
  };
}

interface WirePhase {
  readonly status: PhaseRecord['status'];
  readonly updated_at: string;
  readonly not_before?: string;
  readonly suspended?: NonNullable<PhaseRecord['suspended']>;
}

interface WireState {
  readonly step_id: string;
  readonly owner_kind: string;
  readonly workflow_id?: string;
  readonly agent?: string;
  readonly created_at: string;
  readonly outcome: ContinuationState['outcome'];
  readonly phases: { readonly [Name in Phase]?: WirePhase };
}

const text = orAbsent(isText);
/** One that may be blank: the codec takes it as it stands. */
const anyText = orAbsent((value) => typeof value === 'string');
const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

const TERMINAL: readonly (readonly [string, Check])[] = [
  ['terminal_id', isText],
  ['label', anyText],
  ['state', oneOf('current', 'previous')],
  ['opened_at', isText],
  ['archived_at', text],
];

const LEASE: readonly (readonly [string, Check])[] = [
  ['pid', isNumber],
  ['host_id', isText],
  ['since', isText],
  ['token', isNumber],
];

const SUSPENSION: readonly (readonly [string, Check])[] = [
  ['reason', oneOf('rate_limited', 'auth_required', 'session_busy', 'cli_unusable')],
  ['until', text],
  ['detail', text],
];

const TURN: readonly (readonly [string, Check])[] = [
  ['turn_id', isText],
  ['message', anyText],
  ['kind', oneOf('prompt', 'sequence_item', 'validation_feedback', 'review', 'notification')],
  ['state', oneOf('open', 'completed')],
  ['answer', anyText],
];

const PHASE: readonly (readonly [string, Check])[] = [
  [
    'status',
    oneOf(
      ...['pending', 'running', 'waiting_for_lock', 'recovery_queued'],
      ...['completed', 'failed', 'skipped'],
    ),
  ],
  ['error', anyText],
  ['updated_at', isText],
  ['attempt', orAbsent((value) => Number.isSafeInteger(value) && Number(value) >= 0)],
  ['turn_id', anyText],
  ['turns', orAbsent((value) => isList(value) && value.every((turn) => hasShape(turn, TURN)))],
  ['started_at', anyText],
  ['completed_at', anyText],
  ['not_before', text],
  ['suspended', orAbsent((value) => hasShape(value, SUSPENSION))],
  ['error_json', orAbsent(isObject)],
  ['lease', orAbsent((value) => hasShape(value, LEASE))],
];

const isOwner = orAbsent(
  (value) =>
    isObject(value) &&
    ((value['kind'] === 'chat' && isText(value['chat_id'])) ||
      (value['kind'] === 'execution' && isText(value['execution_id']))),
);

const STATE: readonly (readonly [string, Check])[] = [
  ['schema_version', (value) => value === CONTINUATION_STATE_SCHEMA],
  ['workspace_path', anyText],
  ['run_folder', anyText],
  ['step_id', isText],
  ['step_path', anyText],
  ['owner_kind', isText],
  [
    'phases',
    (value) =>
      isObject(value) &&
      PHASES.every((phase) => value[phase] === undefined || hasShape(value[phase], PHASE)),
  ],
  ['updated_at', isText],
  ['execution_id', anyText],
  ['workflow_id', text],
  ['agent', text],
  ['correlation_id', anyText],
  ['created_at', isText],
  ['outcome', oneOf('open', 'completed', 'failed', 'stopped')],
  ['answer', anyText],
  ['owner', isOwner],
  ['notify', isOwner],
  [
    'terminals',
    orAbsent((value) => isList(value) && value.every((one) => hasShape(one, TERMINAL))),
  ],
];
