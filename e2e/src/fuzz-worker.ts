import { createInterface } from 'node:readline';
import { Agent, isTurnError } from '@holdfast/agent';
import type { FuzzOutcome } from './fuzz/fuzz-process.js';

/** A service with one agent at a time: each line is a text to send, and is answered by what became of it. */
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const options = JSON.parse((await lines.next()).value);
let agent = new Agent(options);
const agents = [agent];

for await (const line of lines) {
  const { text, fresh } = JSON.parse(line);
  if (fresh) {
    agent = new Agent(options);
    agents.push(agent);
  }
  process.stdout.write(`${JSON.stringify(await send(text))}\n`);
}
for (const one of agents) await one.close();

async function send(text: string): Promise<FuzzOutcome> {
  try {
    const handle = agent.currentAgentSessionHandle();
    await (handle
      ? agent.continueAgentSession(handle, text)
      : agent.askWithHistory([{ role: 'user', content: text }]));
    return { outcome: 'answered' };
  } catch (error) {
    if (isTurnError(error) && error.kind === 'undeliverable_message') {
      return { outcome: 'refused', reason: error.reason };
    }
    return { outcome: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}
