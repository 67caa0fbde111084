import type { RequestListener } from 'node:http';
import {
  type Clock,
  isContinuationError,
  isTurnError,
  type Logger,
  systemClock,
} from '@holdfast/agent';
import type { AgentEquipment } from '../agents.js';
import type { SessionOwner } from '../executions/execution-owner.js';
import type { Executions } from '../executions/executions.js';
import type { Store } from '../persistence/store.js';
import { isWorkflowError } from '../workflow/workflow-error.js';
import { type AddressSlots, openAddressSlots } from './address-slots.js';
import { answerRequest, BRIDGE_PATH } from './answer-request.js';
import { readOrMakeSecret } from './bridge-secret.js';
import { tokenFor } from './bridge-token.js';
import { equipWith } from './equip-agents.js';
import { loadSubAgentServer } from './sub-agent-server.wire.js';
import { createSubAgentTools } from './sub-agent-tools.js';

/** What a bridge is made of. */
export interface SubAgentBridgeOptions {
  readonly store: Store;
  /** Asked for at each call: they may be made after the bridge. */
  readonly executions: () => Executions;
  /** The ids that may be called. With none, there is nothing to serve: no agent is given the tools. */
  readonly agents: readonly string[];
  readonly logger?: Logger | undefined;
  readonly clock?: Clock | undefined;
  /** How long between two looks for the addresses of dead peers; 1000 when absent. */
  readonly pollMs?: number | undefined;
}

/** The tools by which sessions start sub-agents, served to all of them over HTTP on this machine. */
export interface SubAgentBridge extends AsyncDisposable {
  /** Serves when it resolves. Before the first agent is made. */
  readonly start: () => Promise<void>;
  /** Gives every agent of a chat or an execution the tools. A server of the same name is a TypeError. */
  readonly equip: AgentEquipment;
  /** Where the tools are; `undefined` before `start`, and where no agent may be called. */
  readonly url: () => string | undefined;
  /** Every address served here: this builder's own, and those of peers that are gone. */
  readonly served: () => readonly string[];
  /** What a session proves itself with. The same after every restart. */
  readonly tokenFor: (owner: SessionOwner) => string;
  /** Answers what is being asked and stops serving. A living peer takes the address over. */
  readonly close: () => Promise<void>;
}

const POLL_MS = 1_000;

interface Running {
  readonly slots: AddressSlots;
  readonly secret: Uint8Array;
}

/** Makes the bridge; `start` opens it. */
export function createSubAgentBridge(options: SubAgentBridgeOptions): SubAgentBridge {
  const { agents } = options;
  let running: Running | undefined;
  const getRunning = () => {
    if (running) return running;
    throw new TypeError('The sub-agent bridge is not started.');
  };
  const close = async () => {
    const ending = running;
    running = undefined;
    await ending?.slots[Symbol.asyncDispose]();
  };
  const tokenOf = (owner: SessionOwner) => tokenFor(owner, getRunning().secret);
  const equip = equipWith(() => ({ url: urlOf(getRunning().slots.port()), tokenFor: tokenOf }));
  return {
    start: async () => {
      if (running) throw new TypeError('The sub-agent bridge was started before.');
      if (agents.length > 0) running = await openBridge(options);
    },
    equip: agents.length > 0 ? equip : (agent) => agent,
    url: () => running && urlOf(running.slots.port()),
    served: () => (running?.slots.served() ?? []).map(urlOf),
    tokenFor: tokenOf,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}${BRIDGE_PATH}`;
}

async function openBridge(options: SubAgentBridgeOptions): Promise<Running> {
  const { store, logger, clock = systemClock, pollMs = POLL_MS } = options;
  const secret = await readOrMakeSecret(store, logger);
  const listener = await createListener(secret, options);
  const slots = await openAddressSlots({ store, listener, clock, logger, pollMs });
  return { slots, secret };
}

async function createListener(
  secret: Uint8Array,
  options: SubAgentBridgeOptions,
): Promise<RequestListener> {
  const { agents, logger } = options;
  const serve = await loadSubAgentServer();
  const describeFailure = (tool: string, error: unknown) => explain(tool, error, logger);
  return (request, response) => {
    void answerRequest(request, response, {
      secret,
      logger,
      answer: (caller, exchange) =>
        serve({ tools: createSubAgentTools(caller, options), agents, describeFailure }, exchange),
    });
  };
}

/** Our own errors say what to do; of a foreign one the model is told no more than that it failed. */
function explain(tool: string, error: unknown, logger: Logger | undefined): string {
  if (isWorkflowError(error) || isTurnError(error) || isContinuationError(error)) {
    return error.message;
  }
  logger?.error({ tool, error: String(error) }, 'tool of a sub-agent failed');
  return `${tool} failed inside the builder. Look with list_sub_agents before you try again.`;
}
