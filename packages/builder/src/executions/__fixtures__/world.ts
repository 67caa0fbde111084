import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemorySessions } from '../../__fixtures__/memory-sessions.js';
import { createAgentRegistry } from '../../agents.js';
import type { Notification } from '../../notifications/notification.js';
import { createOutbox } from '../../notifications/outbox.js';
import { createFileStore } from '../../persistence/file-store.js';
import type { Store } from '../../persistence/store.js';
import type { WorkflowDefinition } from '../../workflow/workflow-definition.js';
import type { WorkflowEvent } from '../../workflow/workflow-event.js';
import { createExecutions } from '../create-executions.js';
import { createExecutionHandler } from '../drive-execution.js';
import { createExecutionContext } from '../execution-context.js';
import { createSessionTurns } from '../create-session-turns.js';
import { createTestClock, MemoryEngine } from './memory-engine.js';

/** What outlives every process: the disk, and what the providers know. */
export interface Machine {
  readonly dir: string;
  readonly sessions: MemorySessions;
  readonly dispose: () => Promise<void>;
}

export async function createMachine(): Promise<Machine> {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-executions-'));
  return {
    dir,
    sessions: new MemorySessions(),
    dispose: () => rm(dir, { recursive: true, force: true }),
  };
}

interface ServiceOptions {
  readonly workflows?: readonly WorkflowDefinition[];
  readonly agents?: readonly string[];
  readonly wrapStore?: (store: Store) => Store;
}

/** One process of a service on a machine. */
export function createService(machine: Machine, options: ServiceOptions = {}) {
  const { workflows = [], agents = ['coder', 'librarian'], wrapStore = (store: Store) => store } = options;
  const clock = createTestClock();
  const engine = new MemoryEngine(clock);
  const store = wrapStore(createFileStore({ dataDir: join(machine.dir, 'data') }));
  const context = createExecutionContext({
    store,
    engine,
    agents: createAgentRegistry(
      Object.fromEntries(
        agents.map((id) => [
          id,
          {
            provider: 'claude-code' as const,
            workingDir: '/project',
            stateDir: join(machine.dir, 'state'),
            sessions: machine.sessions,
          },
        ]),
      ),
    ),
    workflows: new Map(workflows.map((one) => [one.id, one])),
    closing: engine.signal.signal,
    checkOpen: () => {},
    clock,
  });
  const told: Notification[] = [];
  const sessions = createSessionTurns(context, async () => {
    throw new Error('there is no chat here');
  });
  const outbox = createOutbox({
    store,
    sessions,
    clock,
    onNotification: (notification) => {
      told.push(notification);
    },
  });
  engine.handle('executions', createExecutionHandler(context, outbox));
  const executions = createExecutions(context);
  const events = async (id: string): Promise<WorkflowEvent[]> => {
    const all: WorkflowEvent[] = [];
    for await (const event of executions.events(id)) all.push(event);
    return all;
  };
  return { clock, engine, store, context, executions, outbox, sessions, told, events };
}

/** The types of events without the providers' own. */
export function typesOf(events: readonly WorkflowEvent[]): string[] {
  return events
    .filter(({ type }) => type !== 'provider_event')
    .map((event) => ('phase' in event ? `${event.type} ${event.phase}` : event.type));
}
