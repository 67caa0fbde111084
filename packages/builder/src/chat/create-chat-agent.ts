import type { Agent } from '@holdfast/agent';
import type { AgentContext } from '../agents.js';
import type { ChatContext } from './chat-context.js';
import { UnknownAgentError } from './chat-error.js';

/** The agent of a chat, made anew; an id nobody registered is an {@link UnknownAgentError}. */
export function createChatAgent(
  { agents }: ChatContext,
  { chatId, agent }: { readonly chatId: string; readonly agent: string },
): Agent {
  if (!agents.has(agent)) throw new UnknownAgentError(chatId, agent);
  return agents.create(chatAgentContext({ chatId, agent }));
}

/** What the agent of a chat is made for. */
export function chatAgentContext({
  chatId,
  agent,
}: {
  readonly chatId: string;
  readonly agent: string;
}): AgentContext {
  return { agent, chatId, scope: 'chat', sessionId: chatId, correlationId: chatId };
}
