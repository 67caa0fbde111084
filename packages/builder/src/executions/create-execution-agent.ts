import type { Agent, AgentScope } from '@holdfast/agent';
import type { AgentContext } from '../agents.js';
import type { ContinuationState } from '../workflow/continuation-state.js';
import type { Phase } from '../workflow/phases.js';
import { UnregisteredAgentError } from '../workflow/workflow-error.js';
import type { ExecutionContext } from './execution-context.js';

/** Which session of an execution: its own, or that of a phase which has one. */
export interface SessionChoice {
  readonly agent: string;
  /** Set for a phase with a session of its own. */
  readonly phase?: Phase | undefined;
}

/** An agent for a session of an execution, made anew; an id nobody registered is an {@link UnregisteredAgentError}. */
export function createExecutionAgent(
  { agents }: Pick<ExecutionContext, 'agents'>,
  state: ContinuationState,
  session: SessionChoice,
): Agent {
  const { agent } = session;
  if (!agents.has(agent)) throw agentNotRegistered(state.executionId, agent);
  return agents.create(executionAgentContext(state, session));
}

/** What the agent of a session of an execution is made for. */
export function executionAgentContext(
  { executionId, ownerKind, correlationId = executionId }: ContinuationState,
  { agent, phase }: SessionChoice,
): AgentContext {
  return {
    agent,
    executionId,
    correlationId,
    scope: SCOPES[ownerKind] ?? 'workflow_step',
    sessionId: phase ? `${executionId}.${phase}` : executionId,
  };
}

/** The error of an execution whose agent nobody registered. */
export function agentNotRegistered(executionId: string, agent: string): UnregisteredAgentError {
  return new UnregisteredAgentError(executionId, agent);
}

const SCOPES: Readonly<Record<string, AgentScope>> = {
  workflow: 'workflow',
  workflow_step: 'workflow_step',
  todo_sub_step: 'workflow_step',
  sub_agent: 'sub_agent',
  background_agent: 'background_agent',
};
