import { createInterface } from 'node:readline';
import { encodeAgentSessionHandle } from '@holdfast/agent';
import { createBuilder } from '@holdfast/builder';
import type { ChatCommand } from './demo/chat-process.js';

/** A service with a builder: it sends one message into a chat, tells the answer, and stays until it is ended. */
const { value } = await createInterface({ input: process.stdin })[Symbol.asyncIterator]().next();
const { dataDir, chatId, message, agent, close }: ChatCommand = JSON.parse(value);

try {
  // The options are JSON that the harness wrote; which CLI they name is decided at run time.
  const agents = { assistant: agent } as unknown as Parameters<typeof createBuilder>[0]['agents'];
  const builder = await createBuilder({ dataDir, agents });
  const chat = await builder.chats.open({ chatId, agent: 'assistant' });
  const { answer, handle } = await chat.send(message);
  if (close) await chat.close();
  tell({ answer, handle: encodeAgentSessionHandle(handle) });
} catch (error) {
  tell({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
}

function tell(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
