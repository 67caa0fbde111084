import type { ProcessObservation, RecordReading } from '../transports/session-transport.js';
import { type CrashDecision, type CrashState, decideAfterCrash } from './decide-after-crash.js';
import { EMPTY_READING, readTurn, type TurnReading } from './read-turn.js';
import { journalState, lastEntry, type TurnRun } from './turn-run.js';

/** Everything known of a turn at one moment, and what follows from it. */
export interface TurnSituation {
  readonly decision: CrashDecision;
  readonly journal: CrashState['journal'];
  readonly record: CrashState['record'];
  readonly process: CrashState['process'];
  readonly reading: TurnReading;
}

/** How long a process must stay idle before it counts as idle, in looks of {@link IDLE_LOOK_MS}. */
const IDLE_LOOKS = 10;
const IDLE_LOOK_MS = 200;
/** How long an unknown process may stay unknown. */
const UNKNOWN_DEADLINE_MS = 20_000;

/** Reads journal, provider's record and process, and decides by the table. Read-only. */
export async function situationOf(run: TurnRun): Promise<TurnSituation> {
  const journal = journalState(run.journal.entries);
  if (journal === 'none' || journal === 'prepared' || journal === 'ended') {
    return decide(run, { journal, record: 'no_message', process: 'gone', reading: EMPTY_READING });
  }
  const first = await lookUntilKnown(run, journal);
  if (first.process !== 'idle' || isSettled(first)) return first;
  return lookUntilIdleForLong(run, first);
}

/** A process that is starting, or a server that does not answer, may tell more a little later. */
async function lookUntilKnown(
  run: TurnRun,
  journal: CrashState['journal'],
): Promise<TurnSituation> {
  const { clock, limits } = run.options;
  const end = clock.monotonicMs() + Math.min(limits.acceptMs, UNKNOWN_DEADLINE_MS);
  for (;;) {
    const situation = await lookOnce(run, journal);
    const isKnown = situation.process !== 'unknown' || isSettled(situation);
    if (isKnown || clock.monotonicMs() >= end) return situation;
    await clock.sleep(IDLE_LOOK_MS);
  }
}

/** The CLI writes its record late: idle counts once it has lasted, and the record is read after that. */
async function lookUntilIdleForLong(run: TurnRun, first: TurnSituation): Promise<TurnSituation> {
  let situation = first;
  for (let looks = 0; looks < IDLE_LOOKS; looks++) {
    await run.options.clock.sleep(IDLE_LOOK_MS);
    situation = await lookOnce(run, first.journal);
    if (situation.process !== 'idle' || isSettled(situation)) return situation;
  }
  return situation;
}

function isSettled({ reading }: TurnSituation): boolean {
  return reading.state === 'ended' || reading.state === 'failed' || reading.state === 'blocked';
}

async function lookOnce(run: TurnRun, journal: CrashState['journal']): Promise<TurnSituation> {
  const { transport } = run.session;
  const context = run.session.context();
  const cursor = lastEntry(run.journal.entries, 'submitting')?.cursor;
  // The process first: a record read before its writer died could miss the writer's last words.
  const observation = await transport.observe(context);
  const stored = await transport.readRecord(context, cursor);
  const reading =
    stored.state === 'readable' ? readTurn(stored.events, run.message) : EMPTY_READING;
  return decide(run, {
    journal,
    record: recordState(stored, reading, cursor?.path !== undefined),
    process: processState(observation),
    reading,
  });
}

function recordState(
  stored: RecordReading,
  reading: TurnReading,
  existedBefore: boolean,
): CrashState['record'] {
  if (stored.state === 'untrustworthy') return 'untrustworthy';
  if (stored.state === 'absent') return existedBefore ? 'untrustworthy' : 'no_message';
  // An end without an answer is no completion: it is told once, and a retry makes the provider go on.
  return reading.state === 'ended' && !reading.ended?.answer.trim() ? 'failed' : reading.state;
}

function processState(observation: ProcessObservation): CrashState['process'] {
  return observation.state === 'alive' ? observation.activity : observation.state;
}

function decide(run: TurnRun, seen: Omit<TurnSituation, 'decision'>): TurnSituation {
  const decision = decideAfterCrash({
    journal: seen.journal,
    record: seen.record,
    process: seen.process,
    nativeIdChanged: false,
    durableBeforeTools: run.session.capabilities.durableBeforeTools,
    failureRaised: wasFailureRaised(run),
    onInterrupted: run.options.onInterrupted,
  });
  return { ...seen, decision };
}

/** A parked failure after the acceptance: the caller has been told, so the retry may nudge. */
function wasFailureRaised({ journal }: TurnRun): boolean {
  const accepted = journal.entries.findLastIndex((entry) => entry.step === 'accepted');
  return journal.entries
    .slice(accepted + 1)
    .some(
      (entry) =>
        entry.step === 'nudged' || (entry.step === 'parked' && RAISED.has(entry.error.kind)),
    );
}

const RAISED: ReadonlySet<string> = new Set([
  'rate_limited',
  'auth_required',
  'provider_failed',
  'history_rejected',
]);
