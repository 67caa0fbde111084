/** What must stand on the disk once a worker died as it came to a step of a resumed turn. */
export interface CrashPoint {
  readonly step: string;
  readonly state: 'READY' | 'IN_FLIGHT' | 'CLOSED';
  /** How far the operation may have come; none where it was not claimed. */
  readonly phases: readonly string[];
}

const UNCLAIMED = { state: 'READY', phases: [] } as const;
const IN_DOUBT = { state: 'IN_FLIGHT', phases: ['turn_submitted'] } as const;

/** The fourteen steps of a job, in their order. The one before the last is taken where a turn is to be followed by a close. */
export const crashPoints: readonly CrashPoint[] = [
  { step: 'validate_spec', ...UNCLAIMED },
  { step: 'check_bundle', ...UNCLAIMED },
  { step: 'stage_bundle', ...UNCLAIMED },
  { step: 'open_thread', ...UNCLAIMED },
  { step: 'rebuild_workspace', ...UNCLAIMED },
  { step: 'prepare_native', ...UNCLAIMED },
  { step: 'claim', ...UNCLAIMED },
  { step: 'start_native', state: 'IN_FLIGHT', phases: ['claimed', 'native_started'] },
  { step: 'run_turn', state: 'IN_FLIGHT', phases: ['native_started', 'turn_submitted'] },
  { step: 'validate_result', ...IN_DOUBT },
  { step: 'report_patch', ...IN_DOUBT },
  { step: 'commit', state: 'IN_FLIGHT', phases: ['result_validated'] },
  { step: 'close_after_turn', state: 'READY', phases: ['committed'] },
  { step: 'end_native', state: 'READY', phases: ['committed'] },
];
