import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ModelMessage, ModelStepRequest } from '@holdfast/provider-core';
import type { ApiAgentOptions } from '../../agent-options.js';
import { createApiFixture } from './api-fixture.js';
import { MemoryTools } from './memory-tools.js';
import { ScriptedPort, say } from './scripted-port.js';

export const TURN = '11111111-1111-4111-8111-111111111111';
export const MESSAGE = 'do it';
export const ANSWER = 'all done';

/** `write` may act twice, `look` is read-only, `put` is idempotent. */
export const TOOLS = { write: {}, look: { isReadOnly: true }, put: { isIdempotent: true } };
export type ToolName = keyof typeof TOOLS;

/** The calls of each step; the step after the last one is the answer. */
export type Script = readonly (readonly ToolName[])[];

/** A model that answers from the conversation it is sent, so that a restarted turn needs no memory of it. */
function createScriptedPort(script: Script): ScriptedPort {
  return new ScriptedPort(({ messages }) => {
    const spoken = messages.slice(messages.findLastIndex(({ role }) => role === 'user'));
    const at = spoken.filter(({ role }) => role === 'assistant').length;
    const calls = script[at];
    if (!calls) return say(ANSWER);
    const content = calls.map((toolName, index) => {
      const callId = `${at}-${index}`;
      return { type: 'tool_call' as const, callId, toolName, input: { callId } };
    });
    return { content, stopReason: 'tool_calls' };
  });
}

/** A world of its own: the same script, the same tools, nothing called yet. */
export async function createWorld(script: Script, permissions: 'full' | 'ask') {
  const port = createScriptedPort(script);
  const toolBox = new MemoryTools(TOOLS);
  const options: Partial<ApiAgentOptions> = {
    toolPolicy: { permissions },
    onApproval: () => ({ decision: 'allow' }),
  };
  const fixture = await createApiFixture(port, toolBox, options);
  return { ...fixture, port, toolBox, [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose]() };
}

/** The lines of the transcript of one whole, undisturbed turn. */
export async function recordWholeTurn(script: Script, permissions: 'full' | 'ask') {
  await using world = await createWorld(script, permissions);
  const agent = world.createAgent();
  const { handle } = await agent.askWithHistory([{ role: 'user', content: MESSAGE }], {
    turnId: TURN,
  });
  const path = join(world.stateDir, 'api', handle.sessionId, 'transcript.jsonl');
  const lines = (await readFile(path, 'utf8')).trim().split('\n');
  return { handle, lines };
}

/** The ids of calls that may have been made, and of those with a result, as a cut transcript tells. */
export function readCalls(lines: readonly string[]) {
  const records = lines.map((line) => JSON.parse(line));
  const idsOf = (type: string) =>
    records.filter((one) => one.type === type).map((one) => String(one.call_id));
  const finished = idsOf('tool_call_finished');
  const open = idsOf('tool_call_started').filter((id) => !finished.includes(id));
  return { finished, open };
}

/** What no vendor takes: a call without a result, a result without a call, the user's message twice. */
export function findFlaw({ messages }: ModelStepRequest): string | undefined {
  const said = messages.filter(
    (one) => one.role === 'user' && one.content.some((part) => part.type === 'text' && part.text === MESSAGE),
  );
  if (said.length !== 1) return `the message stands ${said.length} times`;
  let owed: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      if (owed.shift() !== message.callId) return `a result for ${message.callId} nobody asked for`;
    } else if (owed.length > 0) return `no result for ${owed.join()}`;
    else owed = callsOf(message);
  }
  return owed.length > 0 ? `no result for ${owed.join()}` : undefined;
}

function callsOf(message: ModelMessage): string[] {
  if (message.role !== 'assistant') return [];
  return message.content.flatMap((part) => (part.type === 'tool_call' ? [part.callId] : []));
}
