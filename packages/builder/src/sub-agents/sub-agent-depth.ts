import { readExecutionId } from '../executions/execution-key.js';
import type { SessionOwner } from '../executions/execution-owner.js';
import type { Executions } from '../executions/executions.js';
import { findCallRecord } from './sub-agent-call.wire.js';
import { isSubAgentStep } from './sub-agent-place.js';

/** How many sub-agents may stand in a line, each called by the one before: agents that call each other must come to an end. */
export const MAX_SUB_AGENT_DEPTH = 4;

/**
 * How many calls stand above a session: 0 for a chat and for a step, 1 for a sub-agent of these. Counted by who called, not by
 * who owns: one in the background is as deep as any other. No further than the limit.
 */
export async function findSubAgentDepth(
  caller: SessionOwner,
  executions: Pick<Executions, 'get'>,
): Promise<number> {
  let one: SessionOwner | undefined = caller;
  for (let depth = 0; depth < MAX_SUB_AGENT_DEPTH; depth += 1) {
    if (one?.kind !== 'execution') return depth;
    if (!isSubAgentStep(readExecutionId(one.executionId).step)) return depth;
    const { input } = await executions.get(one.executionId);
    one = findCallRecord(input)?.calledBy;
  }
  return MAX_SUB_AGENT_DEPTH;
}
