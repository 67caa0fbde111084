import { createHash, randomBytes } from 'node:crypto';
import { type ExecutionKey, readExecutionId } from '../executions/execution-key.js';
import { type SessionOwner, sessionOwnerId } from '../executions/execution-owner.js';
import { CHATS_ITERATION, chatGroupOf } from '../persistence/keys.js';

/** The run folder in which the sub-agents of a session stand: beside its execution, or that of the chat. */
export function subAgentRunOf(caller: SessionOwner): Pick<ExecutionKey, 'iteration' | 'group'> {
  if (caller.kind === 'chat') {
    return { iteration: CHATS_ITERATION, group: chatGroupOf(caller.chatId) };
  }
  const { iteration, group } = readExecutionId(caller.executionId);
  return { iteration, group };
}

/** The place of a sub-agent. The same caller's same `key` gives the same place in every process; without one it is new. */
export function subAgentKeyOf(caller: SessionOwner, key: string | undefined): ExecutionKey {
  const name = key === undefined ? randomBytes(6).toString('hex') : nameOfKey(caller, key);
  return { ...subAgentRunOf(caller), step: `${STEP_PREFIX}${name}` };
}

/** Tells whether a step's name is that of a sub-agent. */
export function isSubAgentStep(step: string): boolean {
  return step.startsWith(STEP_PREFIX);
}

const STEP_PREFIX = 'agent-';

function nameOfKey(caller: SessionOwner, key: string): string {
  const call = JSON.stringify([sessionOwnerId(caller), key]);
  return createHash('sha256').update(call).digest('hex').slice(0, 12);
}
