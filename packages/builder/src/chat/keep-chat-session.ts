import type { Agent } from '@holdfast/agent';
import type { SessionOwner } from '../executions/execution-owner.js';
import { keepSession } from '../terminals/keep-session.js';
import type { ChatContext } from './chat-context.js';
import type { ChatView } from './chat-view.js';
import { chatAgentContext } from './create-chat-agent.js';

/** The session of a chat, as what is kept of terminals names it. */
export function chatSessionOf({ chatId }: Pick<ChatView, 'chatId'>): {
  readonly owner: SessionOwner;
  readonly sessionId: string;
} {
  return { owner: { kind: 'chat', chatId }, sessionId: chatId };
}

/** Notes that the chat's session was used, and keeps what its terminal shows. */
export async function keepChatSession(
  context: ChatContext,
  view: Pick<ChatView, 'chatId' | 'agent'>,
  agent: Agent,
): Promise<void> {
  const { owner } = chatSessionOf(view);
  await keepSession(context, {
    owner,
    policy: 'persistent',
    context: chatAgentContext(view),
    agent,
  });
}
