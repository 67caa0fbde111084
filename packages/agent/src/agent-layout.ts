import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { CodingProviderSessionHandle } from '@holdfast/provider-core';

/** Every path an agent keeps its own state at, below the state directory. */
export interface AgentLayout {
  /** What one native session holds, as JSON lines. */
  readonly historyFile: (handle: CodingProviderSessionHandle) => string;
  readonly queueFile: (agentId: string) => string;
  /** Held while the queue's file is changed. */
  readonly queueWriteLease: (agentId: string) => string;
  /** Held by the agent that drains the queue. */
  readonly queueDrainLease: (agentId: string) => string;
}

/** The paths below `stateDir`. Ids are digested, since an id may hold what a file name may not. */
export function agentLayout(stateDir: string): AgentLayout {
  const root = join(resolve(stateDir), 'agents');
  const queue = (agentId: string, suffix: string) =>
    join(root, 'queues', `${nameOf(agentId)}${suffix}`);
  return {
    historyFile: ({ provider, nativeSessionId }) =>
      join(root, 'histories', `${nameOf(JSON.stringify([provider, nativeSessionId]))}.jsonl`),
    queueFile: (agentId) => queue(agentId, '.json'),
    queueWriteLease: (agentId) => queue(agentId, '.write-lease'),
    queueDrainLease: (agentId) => queue(agentId, '.drain-lease'),
  };
}

function nameOf(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 32);
}
