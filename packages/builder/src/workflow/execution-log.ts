import {
  type AgentTurnEvent,
  type Clock,
  isoInstant,
  type Lease,
  StateUnusableError,
} from '@holdfast/agent';
import type { ExecutionKey } from '../executions/execution-key.js';
import { keys } from '../persistence/keys.js';
import type { Store, StoreLogOptions } from '../persistence/store.js';
import { isKeptEvent } from '../turn-events.js';
import type { ContinuationState } from './continuation-state.js';
import type { Phase } from './phases.js';
import type { WorkflowEvent, WorkflowEventBody, WorkflowEventStamp } from './workflow-event.js';
import { decodeWorkflowEvent, encodeWorkflowEvent } from './workflow-event.wire.js';

/** An execution's log, held open by whoever has the execution's lease. */
export interface ExecutionLog {
  /** Everything that stands in it but the providers' own events, in order. */
  readonly events: readonly WorkflowEvent[];
  /** Appends in the order of the calls; durable when it resolves. */
  readonly append: (body: WorkflowEventBody) => Promise<void>;
  /** Keeps what a turn tells. Deltas and ends are left out, and so is what was kept before a crash. */
  readonly keep: (facts: ProviderEventFacts) => Promise<void>;
}

interface ProviderEventFacts {
  readonly phase: Phase;
  readonly turnId: string;
  readonly event: AgentTurnEvent;
}

interface OpenLog {
  readonly store: Store;
  readonly key: ExecutionKey;
  readonly lease: Lease;
  readonly clock: Clock;
  readonly state: Pick<ContinuationState, 'executionId' | 'ownerKind' | 'correlationId'>;
}

/** Opens the log for writing. Only with the execution's lease: sequence numbers have one writer. */
export async function openExecutionLog({
  store,
  key,
  lease,
  clock,
  state,
}: OpenLog): Promise<ExecutionLog> {
  const place = keys.executionEvents(key);
  const events: WorkflowEvent[] = [];
  const kept = new Set<string>();
  let sequence = 0;
  for await (const event of readExecutionLog(store, key)) {
    sequence += 1;
    if (event.type === 'provider_event') kept.add(keyOf(event));
    else events.push(event);
  }
  const { executionId, ownerKind, correlationId = executionId } = state;
  let writes: Promise<unknown> = Promise.resolve();
  const write = async (body: WorkflowEventBody, sync: boolean) => {
    const stamp: WorkflowEventStamp = {
      executionId,
      ownerKind,
      correlationId,
      sequence,
      at: isoInstant(clock),
    };
    const event: WorkflowEvent = { ...body, ...stamp };
    await store.append(place, encodeWorkflowEvent(event), { lease, sync });
    sequence += 1;
    if (event.type !== 'provider_event') events.push(event);
  };
  const append = (body: WorkflowEventBody, sync = true) => {
    const written = writes.then(() => write(body, sync));
    // One failed write is its caller's; the next one tries anew.
    writes = written.catch(() => {});
    return written;
  };
  return {
    events,
    append,
    keep: async (facts) => {
      if (!isKeptEvent(facts.event) || kept.has(keyOf(facts))) return;
      kept.add(keyOf(facts));
      await append({ type: 'provider_event', ...facts }, false);
    },
  };
}

/** Another attempt numbers its events anew, at other instants. */
function keyOf({ turnId, event }: Omit<ProviderEventFacts, 'phase'>): string {
  return `${turnId} ${event.sequence} ${event.at}`;
}

/** The events of an execution from a sequence number on, whoever writes them. Read-only. */
export async function* readExecutionLog(
  store: Store,
  key: ExecutionKey,
  { from = 0, follow }: StoreLogOptions = {},
): AsyncGenerator<WorkflowEvent, void, undefined> {
  const log = keys.executionEvents(key);
  const place = log.join('/');
  let sequence = from;
  for await (const entry of store.readLog(log, { from, follow })) {
    const event = decodeWorkflowEvent(entry, place);
    // A torn line leaves no gap, since its number is given again; a gap means that something durable is lost.
    if (event.sequence !== sequence) {
      throw new StateUnusableError(place, 'damaged', `event ${sequence} is missing; restore it.`);
    }
    sequence += 1;
    yield event;
  }
}
