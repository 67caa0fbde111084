import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemorySessions } from '../../__fixtures__/memory-sessions.js';
import { createAgentRegistry } from '../../agents.js';
import type { Notification } from '../../notifications/notification.js';
import { createOutbox } from '../../notifications/outbox.js';
import { createFileStore } from '../../persistence/file-store.js';
import type { Store } from '../../persistence/store.js';
import type { ContinuationState } from '../../workflow/continuation-state.js';
import { decodeContinuationState } from '../../workflow/continuation-state.wire.js';
import {
  defineWorkflow,
  type PromptStep,
  type WorkflowDefinition,
} from '../../workflow/workflow-definition.js';
import type { WorkflowEvent } from '../../workflow/workflow-event.js';
import { createExecutions } from '../create-executions.js';
import { createExecutionHandler } from '../drive-execution.js';
import { createExecutionContext, type StepCoding } from '../execution-context.js';
import { createSessionTurns } from '../create-session-turns.js';
import { createTestClock, MemoryEngine } from './memory-engine.js';

export const KEY = { iteration: '1', group: 'main', step: 'draft' };
export const ID = '1~main~draft';

/** How a run begins its step. */
export const start = {
  key: KEY,
  ownerKind: 'workflow_step',
  agent: 'coder',
  workflowId: 'report',
} as const;

/** A workflow of one step. */
export function workflowOf(step: Partial<PromptStep>): WorkflowDefinition {
  return defineWorkflow({
    id: 'report',
    steps: [{ id: 'draft', agent: 'coder', prompt: 'write', ...step }],
  });
}

/** Lets a test hold a turn that was taken in, until somebody interrupts it. */
function holdTurns(sessions: MemorySessions) {
  const ends = new Map<string, () => void>();
  const watch = (turn: CodingAgentTurn, signal: AbortSignal | undefined): CodingAgentTurn => {
    const end = () => ends.get(turn.turnId)?.();
    signal?.addEventListener('abort', end);
    const { interrupt } = turn;
    const interruptAndEnd = async () => {
      const interrupted = interrupt();
      end();
      await interrupted;
    };
    return Object.assign(turn, { interrupt: interruptAndEnd });
  };
  const { start: begin, continue: goOn } = sessions;
  Object.assign(sessions, {
    start: (request: Parameters<typeof begin>[0]) => watch(begin(request), request.signal),
    continue: (...request: Parameters<typeof goOn>) => watch(goOn(...request), request[2].signal),
  });
  /** Resolves once the next turn was taken in; that turn ends by an interrupt, or by `release`. */
  return () => {
    const { onStep } = sessions;
    return new Promise<{ readonly turnId: string; readonly release: () => void }>((resolve) => {
      sessions.onStep = async (step, turnId) => {
        if (step !== 'accepted') return await onStep(step, turnId);
        sessions.onStep = onStep;
        await new Promise<void>((release) => {
          ends.set(turnId, release);
          resolve({ turnId, release });
        });
      };
    });
  };
}

type CodingAgentTurn = ReturnType<MemorySessions['start']>;

/** What outlives every process: the disk, and what the providers know. */
export interface Machine {
  readonly dir: string;
  readonly sessions: MemorySessions;
  readonly holdTurn: ReturnType<typeof holdTurns>;
  readonly dispose: () => Promise<void>;
}

export async function createMachine(): Promise<Machine> {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-executions-'));
  const sessions = new MemorySessions();
  return {
    dir,
    sessions,
    holdTurn: holdTurns(sessions),
    dispose: () => rm(dir, { recursive: true, force: true }),
  };
}

interface ServiceOptions {
  readonly workflows?: readonly WorkflowDefinition[];
  readonly agents?: readonly string[];
  /** A store in files when absent. */
  readonly store?: Store;
  readonly coding?: StepCoding;
}

/** One process of a service on a machine. */
export function createService(machine: Machine, options: ServiceOptions = {}) {
  const { workflows = [], agents = ['coder', 'librarian'] } = options;
  const clock = createTestClock();
  const engine = new MemoryEngine(clock);
  const written: ContinuationState[] = [];
  const files = options.store ?? createFileStore({ dataDir: join(machine.dir, 'data') });
  const store: Store = {
    read: files.read,
    remove: files.remove,
    setAside: files.setAside,
    list: files.list,
    append: files.append,
    readLog: files.readLog,
    acquire: files.acquire,
    observe: files.observe,
    [Symbol.asyncDispose]: () => files[Symbol.asyncDispose](),
    write: async (key, value, writeOptions) => {
      const isWritten = await files.write(key, value, writeOptions);
      const { state } = decodeContinuationState(value, KEY);
      if (state && key.at(-1) === 'continuation_state.json') written.push(state);
      return isWritten;
    },
  };
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
    coding: options.coding,
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
  /** Every state that was written to disk, in order; of one step where it is named. */
  const states = (step = KEY.step) => written.filter(({ stepId }) => stepId === step);
  return { clock, engine, store, context, executions, outbox, sessions, told, events, states };
}

/** The types of events without the providers' own. */
export function typesOf(events: readonly WorkflowEvent[]): string[] {
  return events
    .filter(({ type }) => type !== 'provider_event')
    .map((event) => ('phase' in event ? `${event.type} ${event.phase}` : event.type));
}
