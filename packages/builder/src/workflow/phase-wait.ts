import type { PhaseRecord } from './continuation-state.js';

/** The instant before which a phase is not begun; `undefined` when it waits for none. Pure. */
export function findWait(
  record: Pick<PhaseRecord, 'suspended' | 'notBefore' | 'updatedAt'> | undefined,
  now: number,
): string | undefined {
  const until = record?.suspended?.until ?? record?.notBefore;
  if (!record || until === undefined || wasClockSetBack(record, now)) return undefined;
  return until;
}

/** Why a phase is not begun until a person did something and says so; `undefined` when it waits for nobody. Pure. */
export function findHold({ suspended }: Pick<PhaseRecord, 'suspended'> = {}): string | undefined {
  if (!suspended || suspended.until !== undefined) return undefined;
  return `${suspended.reason}: ${suspended.detail}`;
}

const ODD_MS = 60_000;

/** An instant that a clock gave which ran ahead says nothing, and must not hold a phase up for years. */
function wasClockSetBack({ updatedAt }: Pick<PhaseRecord, 'updatedAt'>, now: number): boolean {
  return Date.parse(updatedAt) - now > ODD_MS;
}

/** What recovery makes of a wait: one that a clock ahead of ours gave is over, any other goes on. Pure. */
export function keepWait(record: PhaseRecord, now: number): Partial<PhaseRecord> {
  if (!wasClockSetBack(record, now)) return {};
  const { suspended } = record;
  // What waits for a person has no instant, and goes on waiting.
  return {
    notBefore: undefined,
    suspended: suspended?.until === undefined ? suspended : undefined,
  };
}
