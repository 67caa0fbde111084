import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionOwner } from '../../executions/execution-owner.js';
import { createFileStore } from '../../persistence/file-store.js';
import type { Store } from '../../persistence/store.js';
import {
  createSubAgentBridge,
  type SubAgentBridge,
  type SubAgentBridgeOptions,
} from '../sub-agent-bridge.js';
import { connectSession, type McpSession } from './mcp-session.js';
import { createStoredExecutions, type StoredExecutions } from './stored-executions.js';

export const BOSS: SessionOwner = { kind: 'execution', executionId: '1~main~draft' };
export const CHAT: SessionOwner = { kind: 'chat', chatId: 'boss.chat' };

/** A data directory with one execution, BOSS, and whatever is opened on it. */
export interface BridgeWorld extends AsyncDisposable {
  readonly store: Store;
  readonly executions: StoredExecutions;
  readonly open: (options?: Partial<SubAgentBridgeOptions>) => Promise<SubAgentBridge>;
  readonly connect: (bridge: SubAgentBridge, owner?: SessionOwner) => Promise<McpSession>;
}

export async function createBridgeWorld(): Promise<BridgeWorld> {
  const dataDir = await mkdtemp(join(tmpdir(), 'holdfast-'));
  const store = createFileStore({ dataDir });
  const executions = createStoredExecutions(store);
  const key = { iteration: '1', group: 'main', step: 'draft' };
  await executions.start({ key, ownerKind: 'workflow_step', agent: 'writer' });
  executions.started.length = 0;
  const opened: AsyncDisposable[] = [];
  const agents = ['researcher', 'tester'];
  return {
    store,
    executions,
    open: async (options) => {
      const bridge = createSubAgentBridge({
        store,
        executions: () => executions,
        agents,
        ...options,
      });
      opened.push(bridge);
      await bridge.start();
      return bridge;
    },
    connect: async (bridge, owner = BOSS) => {
      const session = await connectSession(bridge.url() ?? '', headersOf(bridge, owner));
      opened.push(session);
      return session;
    },
    [Symbol.asyncDispose]: async () => {
      for (const one of opened.splice(0).reverse()) await one[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

export function headersOf(bridge: SubAgentBridge, owner: SessionOwner) {
  return { Authorization: `Bearer ${bridge.tokenFor(owner)}` };
}
