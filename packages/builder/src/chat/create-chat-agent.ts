import type { Agent } from '@holdfast/agent';
import type { ChatContext } from './chat-context.js';
import { UnknownAgentError } from './chat-error.js';

/** The agent of a chat, made anew; an id nobody registered is an {@link UnknownAgentError}. */
export function createChatAgent(
  { agents }: ChatContext,
  { chatId, agent }: { readonly chatId: string; readonly agent: string },
): Agent {
  if (!agents.has(agent)) throw new UnknownAgentError(chatId, agent);
  return agents.create({
    agent,
    chatId,
    scope: 'chat',
    sessionId: chatId,
    correlationId: chatId,
  });
}
