import { systemClock } from '@holdfast/agent';
import { executionIdOf } from '../executions/execution-key.js';
import type { Executions } from '../executions/executions.js';
import { keys } from '../persistence/keys.js';
import type { Store } from '../persistence/store.js';
import { isWorkflowError } from './workflow-error.js';
import type { WorkflowEvent } from './workflow-event.js';
import type { RunKey } from './workflow-run.js';

/** One event of a run, with the place to go on from. */
export type RunEvent = WorkflowEvent & {
  /** Opaque: hand it back to see what came after this event, in another process too. */
  readonly cursor: string;
};

interface ReadRunEvents {
  readonly run: RunKey;
  readonly cursor?: string | undefined;
  readonly follow?: AbortSignal | undefined;
}

/** How many events of each step were seen. */
type Seen = Readonly<Record<string, number>>;

/** How often new events are looked for. */
const LOOK_MS = 200;

/** The events of every execution of a run. In order within one execution; between two of them by their instants. */
export async function* readRunEvents(
  store: Store,
  executions: Executions,
  { run, cursor, follow }: ReadRunEvents,
): AsyncGenerator<RunEvent, void, undefined> {
  let seen = readCursor(cursor);
  for (;;) {
    const events = await readUnseen(store, executions, { run, seen });
    for (const { step, event } of events) {
      seen = { ...seen, [step]: event.sequence + 1 };
      yield { ...event, cursor: JSON.stringify(seen) };
    }
    if (!follow) return;
    if (follow.aborted) return;
    await systemClock.sleep(LOOK_MS, follow).catch(() => {});
  }
}

interface StepEvent {
  readonly step: string;
  readonly event: WorkflowEvent;
}

async function readUnseen(
  store: Store,
  executions: Executions,
  { run, seen }: { readonly run: RunKey; readonly seen: Seen },
): Promise<readonly StepEvent[]> {
  const all: StepEvent[] = [];
  for (const step of await store.list(keys.steps(run))) {
    const from = seen[step] ?? 0;
    try {
      for await (const event of executions.events(executionIdOf({ ...run, step }), { from })) {
        all.push({ step, event });
      }
    } catch (error) {
      // Its folder is made before its state: it begins just now, or a crash came in between.
      if (!isWorkflowError(error) || error.kind !== 'unknown_execution') throw error;
    }
  }
  // Stable: events of one step keep their order also where the clock jumped.
  return mergeByInstant(all);
}

/** Merges the steps' sequences, each kept in its own order. */
function mergeByInstant(events: readonly StepEvent[]): readonly StepEvent[] {
  const lanes = new Map<string, { readonly events: StepEvent[]; next: number }>();
  for (const one of events) {
    const lane = lanes.get(one.step) ?? { events: [], next: 0 };
    lane.events.push(one);
    lanes.set(one.step, lane);
  }
  return events.map(() => {
    const [first, ...others] = [...lanes.values()].filter((lane) => lane.next < lane.events.length);
    if (!first) throw new Error('unreachable: as many are taken as there are');
    const earliest = others.reduce((one, other) => (isBefore(other, one) ? other : one), first);
    const event = earliest.events[earliest.next];
    if (!event) throw new Error('unreachable: the lane has one more');
    earliest.next += 1;
    return event;
  });
}

interface Lane {
  readonly events: readonly StepEvent[];
  readonly next: number;
}

function isBefore(one: Lane, other: Lane): boolean {
  const [at, otherAt] = [one.events[one.next]?.event.at, other.events[other.next]?.event.at];
  return at !== undefined && otherAt !== undefined && at < otherAt;
}

function readCursor(cursor: string | undefined): Seen {
  if (cursor === undefined) return {};
  try {
    const seen: unknown = JSON.parse(cursor);
    if (isSeen(seen)) return seen;
  } catch {
    // Told below.
  }
  throw new TypeError(`${JSON.stringify(cursor)} is no cursor of a run's event.`);
}

function isSeen(value: unknown): value is Seen {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((count) => typeof count === 'number')
  );
}
