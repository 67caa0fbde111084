import type { Agent } from '@holdfast/agent';
import { keepSession, type TerminalContext } from '../terminals/keep-session.js';
import type { ContinuationState } from '../workflow/continuation-state.js';
import { executionAgentContext, type SessionChoice } from './create-execution-agent.js';

/** Notes that a session of an execution was used, and keeps what its terminal shows. It fails nothing. */
export async function keepExecutionSession(
  context: TerminalContext,
  state: ContinuationState,
  { session, agent }: { readonly session: SessionChoice; readonly agent: Agent },
): Promise<void> {
  await keepSession(context, {
    owner: { kind: 'execution', executionId: state.executionId },
    // A workflow's main agent is somebody to come back to, as a chat is.
    policy: state.ownerKind === 'workflow' ? 'persistent' : 'bounded',
    context: executionAgentContext(state, session),
    agent,
  });
}
