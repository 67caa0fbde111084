import { CONTINUATION_STATE_SCHEMA } from './continuation-state.js';
import { PHASES } from './phases.js';

const OPEN = ['pending', 'running', 'waiting_for_lock', 'recovery_queued'];
const SETTLED = ['completed', 'failed', 'skipped'];
const MAIN_WORK = ['main_execution', 'pre_validation'];

/**
 * Whether a file owes something, by its few words that say so: most of those a walk reads are finished, and need no more than
 * this. `unclear` is for the codec to judge.
 */
export function readOwedWork(value: unknown): 'nothing' | 'something' | 'unclear' {
  const file = readObject(value);
  const version = file?.['schema_version'];
  if (!file || (typeof version === 'number' && version > CONTINUATION_STATE_SCHEMA))
    return 'unclear';
  const outcome = file['outcome'];
  if (outcome === 'open') return 'something';
  if (outcome !== undefined) {
    return ['completed', 'failed', 'stopped'].includes(String(outcome)) ? 'nothing' : 'unclear';
  }
  return readOwedPhases(readObject(file['phases']) ?? {});
}

/**
 * The same by the text of a file, as far as that can be said without parsing it: one that our own codec wrote says how it ended
 * right after its creation, and nowhere else.
 */
export function readOwedText(text: string): 'nothing' | 'unclear' {
  const isWhole = text.startsWith(WRITTEN_START) && text.endsWith('}\n');
  if (!isWhole || !ENDED.test(text)) return 'unclear';
  return text.indexOf(OUTCOME) === text.lastIndexOf(OUTCOME) ? 'nothing' : 'unclear';
}

const OUTCOME = '"outcome"';
const WRITTEN_START = `{"schema_version":${CONTINUATION_STATE_SCHEMA},`;
const ENDED = /"created_at":"[^"\\]*","outcome":"(?:completed|failed|stopped)"[,}]/;

/** Schema 1 says nothing of how it ended; what passed its validation and shows no more may owe all that follows. */
function readOwedPhases(
  phases: Readonly<Record<string, unknown>>,
): 'nothing' | 'something' | 'unclear' {
  const known = PHASES.filter((phase) => phases[phase] !== undefined);
  const statusOf = (phase: string) => String(readObject(phases[phase])?.['status']);
  if (known.some((phase) => OPEN.includes(statusOf(phase)))) return 'something';
  if (known.some((phase) => !SETTLED.includes(statusOf(phase)))) return 'unclear';
  const hasFailed = known.some(
    (phase) => MAIN_WORK.includes(phase) && statusOf(phase) === 'failed',
  );
  if (hasFailed || statusOf('main_execution') !== 'completed') return 'nothing';
  return known.every((phase) => MAIN_WORK.includes(phase)) ? 'something' : 'nothing';
}

function readObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return value as Readonly<Record<string, unknown>>;
}
