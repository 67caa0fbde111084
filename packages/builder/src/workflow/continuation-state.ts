import type { AgentSessionHandle, ErrorJson } from '@holdfast/agent';
import type { OwnerKind } from '../executions/execution-key.js';
import type { SessionOwner } from '../executions/execution-owner.js';
import type { JsonValue } from '../persistence/store.js';
import type { LeaseOwner } from '../persistence/store-lease.js';
import type { Terminal } from '../terminals/terminal-group.js';
import type { Phase, PhaseStatus } from './phases.js';

/** The newest schema this version reads, and the one it writes. */
export const CONTINUATION_STATE_SCHEMA = 2;

/** One turn of a phase. Message and turn id are on disk before anything is sent, and stay the same however often it is tried. */
export interface PhaseTurn {
  readonly turnId: string;
  readonly message: string;
  readonly kind: 'prompt' | 'sequence_item' | 'validation_feedback' | 'review' | 'notification';
  readonly state: 'open' | 'completed';
  readonly answer?: string | undefined;
}

/** Why a phase waits though nothing runs. Not a failure, and no attempt is counted. */
export interface Suspension {
  readonly reason: 'rate_limited' | 'auth_required' | 'session_busy' | 'cli_unusable';
  /** ISO 8601; absent where nobody knows, and for what a person must do first. */
  readonly until?: string | undefined;
  readonly detail: string;
}

/** What is on disk of one phase. */
export interface PhaseRecord {
  readonly status: PhaseStatus;
  readonly updatedAt: string;
  /** At most 2000 characters: the first and last 1000. */
  readonly error?: string | undefined;
  readonly errorJson?: ErrorJson | undefined;
  /** The newest handle of this phase. Agent-mode phases have a session of their own. */
  readonly handle?: AgentSessionHandle | undefined;
  /** How often it was begun; written before. 0 while it was not. */
  readonly attempt: number;
  /** Of the turn that runs or ran last; also the last of `turns`. */
  readonly turnId?: string | undefined;
  readonly turns: readonly PhaseTurn[];
  /** Who runs it, for people: the store's lease decides. */
  readonly lease?: (LeaseOwner & { readonly token: number }) | undefined;
  readonly startedAt?: string | undefined;
  readonly completedAt?: string | undefined;
  /** ISO 8601; a retry waits until then. */
  readonly notBefore?: string | undefined;
  readonly suspended?: Suspension | undefined;
  /** Keys of the phase this version does not know. */
  readonly unknownKeys?: Readonly<Record<string, JsonValue>> | undefined;
}

/** How an execution ended, or that it did not. */
export type ExecutionOutcome = 'open' | 'completed' | 'failed' | 'stopped';

/**
 * `continuation_state.json` of one execution: what is owed, how far it came and how its sessions are found again. Whoever holds
 * the execution's lease writes it, whole, in one step.
 */
export interface ContinuationState {
  readonly schemaVersion: number;
  readonly workspacePath?: string | undefined;
  /** `{iteration}/{group}`. */
  readonly runFolder: string;
  readonly stepId: string;
  readonly stepPath?: string | undefined;
  /** An {@link OwnerKind}, or what another writer put there. */
  readonly ownerKind: OwnerKind | (string & {});
  /** The newest handle of the execution's own session. */
  readonly handle?: AgentSessionHandle | undefined;
  readonly phases: { readonly [Name in Phase]?: PhaseRecord | undefined };
  /** Phases of names this version does not know survive a round trip, as they stood. */
  readonly unknownPhases?: Readonly<Record<string, JsonValue>> | undefined;
  readonly updatedAt: string;
  /** Absent in schema 1. */
  readonly executionId: string;
  readonly workflowId?: string | undefined;
  /** The id under which `createBuilder` was given the agent. Absent in schema 1. */
  readonly agent?: string | undefined;
  readonly correlationId?: string | undefined;
  readonly createdAt: string;
  readonly outcome: ExecutionOutcome;
  /** The answer of the main session that passed validation. */
  readonly answer?: string | undefined;
  /** Whose completion waits for this one and may stop it ("I own it"). */
  readonly owner?: SessionOwner | undefined;
  /** Whose session is told of the end ("notify me"). */
  readonly notify?: SessionOwner | undefined;
  /** What its workflow or caller gave it. */
  readonly input?: JsonValue | undefined;
  readonly terminals: readonly Terminal[];
  /** Top-level keys this version does not know. */
  readonly unknownKeys?: Readonly<Record<string, JsonValue>> | undefined;
}
