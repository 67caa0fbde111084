import type { ApprovalHandler } from '../spec/host-request.js';
import type { Logger } from '../spec/logger.js';
import { silentLogger } from '../spec/logger.js';
import type { CodingProviderSessionHandle } from '../spec/provider-session-handle.js';
import { defaultStateDir } from '../state/state-layout.js';
import { type Clock, systemClock } from '../time/clock.js';
import type { TransportChoice } from './choose-way.js';

/** How long the parts of a turn may take, in milliseconds. */
export interface TurnLimits {
  /** Until a started or resumed CLI takes input; compaction extends it. 60 s when absent. */
  readonly openMs: number;
  /** Until the provider's record shows the message. 60 s when absent. */
  readonly acceptMs: number;
  /** Without any sign from the provider while a turn runs. 60 min when absent. */
  readonly inactivityMs: number;
  /** Until an interrupt is proven; then the process tree is ended. 10 s when absent. */
  readonly interruptMs: number;
  /** How long to wait for a busy session or lease. 10 min when absent. */
  readonly busyMs: number;
  /** How long `onApproval` may take; then the answer is deny. 5 min when absent. */
  readonly approvalMs: number;
  /** How long `waitFor: 'quiescence'` waits behind the turn's end. 60 min when absent. */
  readonly quiescenceMs: number;
}

/** What a caller may set for one turn. */
export interface TurnOptions {
  /** How the session is driven; what it was started with when absent, and at a start `auto`. */
  readonly transport?: TransportChoice | undefined;
  /** Answers the provider's approvals and questions; without it the tool policy decides and nothing waits. */
  readonly onApproval?: ApprovalHandler | undefined;
  /** Resolve at the turn's end (`turn`, when absent), or once the CLI's background work is over too. */
  readonly waitFor?: 'turn' | 'quiescence' | undefined;
  /** The caller's idempotency key, a UUID; made when absent. */
  readonly turnId?: string | undefined;
  /** Aborting it interrupts the turn. */
  readonly signal?: AbortSignal | undefined;
  /** What to do with a turn that was taken in and cut off: `fail` (typed error) when absent, or `resume`. */
  readonly onInterrupted?: 'fail' | 'resume' | undefined;
  /** Awaited after the message is journaled and before the first native change. */
  readonly onBeforeNativeChange?:
    | ((change: BeforeNativeChange) => void | Promise<void>)
    | undefined;
  /** `fail` with `session_busy` when absent, or `wait` for the other owner. */
  readonly whenBusy?: 'fail' | 'wait' | undefined;
  /** What to do with a draft a person left in the composer; `keep` (and fail) when absent. */
  readonly draft?: 'keep' | 'replace' | undefined;
  /** Where leases' counterparts, journals and launch records live; `$XDG_STATE_HOME/holdfast` when absent. */
  readonly stateDir?: string | undefined;
  readonly logger?: Logger | undefined;
  readonly limits?: Partial<TurnLimits> | undefined;
}

/** Told to `onBeforeNativeChange`. */
export interface BeforeNativeChange {
  readonly turnId: string;
  /** Absent at a start whose native id is not known yet. */
  readonly handle?: CodingProviderSessionHandle | undefined;
}

/** {@link TurnOptions} with every default filled in. */
export interface ResolvedTurnOptions {
  readonly transport?: TransportChoice | undefined;
  readonly onApproval?: ApprovalHandler | undefined;
  readonly waitFor: 'turn' | 'quiescence';
  readonly onInterrupted: 'fail' | 'resume';
  readonly onBeforeNativeChange: (change: BeforeNativeChange) => void | Promise<void>;
  readonly whenBusy: 'fail' | 'wait';
  readonly draft: 'keep' | 'replace';
  readonly stateDir: string;
  readonly logger: Logger;
  readonly limits: TurnLimits;
  readonly clock: Clock;
}

const DEFAULT_LIMITS: TurnLimits = {
  openMs: 60_000,
  acceptMs: 60_000,
  inactivityMs: 60 * 60_000,
  interruptMs: 10_000,
  busyMs: 10 * 60_000,
  approvalMs: 5 * 60_000,
  quiescenceMs: 60 * 60_000,
};

/** Fills in the defaults. */
export function resolveTurnOptions(options: TurnOptions): ResolvedTurnOptions {
  return {
    transport: options.transport,
    onApproval: options.onApproval,
    waitFor: options.waitFor ?? 'turn',
    onInterrupted: options.onInterrupted ?? 'fail',
    onBeforeNativeChange: options.onBeforeNativeChange ?? (() => {}),
    whenBusy: options.whenBusy ?? 'fail',
    draft: options.draft ?? 'keep',
    stateDir: options.stateDir ?? defaultStateDir(),
    logger: options.logger ?? silentLogger,
    limits: resolveLimits(options.limits),
    clock: systemClock,
  };
}

/** A timer takes no more; beyond it, it fires at once. */
const MAX_LIMIT_MS = 2 ** 31 - 1;

/** Every wait needs its deadline: a limit that is none is the caller's mistake, one that is absent has its default. */
function resolveLimits(given: Partial<TurnLimits> = {}): TurnLimits {
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  for (const [name, value] of set) {
    if (typeof value === 'number' && value > 0 && value <= MAX_LIMIT_MS) continue;
    throw new TypeError(`limits.${name} must be between 0 and ${MAX_LIMIT_MS} ms, not ${value}.`);
  }
  return { ...DEFAULT_LIMITS, ...Object.fromEntries(set) };
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The caller's turn id, or a new one; anything but a UUID is the caller's mistake. */
export function turnIdOf(options: TurnOptions): string {
  if (options.turnId === undefined) return crypto.randomUUID();
  if (!UUID.test(options.turnId)) {
    throw new TypeError(`turnId must be a UUID, not ${JSON.stringify(options.turnId)}.`);
  }
  return options.turnId.toLowerCase();
}
