import assert from 'node:assert/strict';
import { expectError } from '../../conversation.js';
import type { HistoryConfig, HistorySubject } from '../../history-subject.js';
import { CODEWORD, QUESTION, sendsNothing } from './check-history.js';

/** CertApiStableFields: each stable setting changed alone is named, and nothing is sent; what is none may change. */
export async function apiStableFields(subject: HistorySubject): Promise<void> {
  const tools = await subject.tools('stdio');
  const servers = tools.config.mcpServers ?? {};
  const config: HistoryConfig = { ...tools.config, systemPrompt: 'Be brief.' };
  const { handle } = await subject.start(CODEWORD, { config });
  const changes: Readonly<Record<string, HistoryConfig>> = {
    working_dir: { workingDir: await subject.createFolder() },
    mcp_config: { mcpServers: { ...servers, more: { command: 'another-server' } } },
    system_prompt: { systemPrompt: 'Be long.' },
    model: { model: `${subject.model}-next` },
    tool_policy: { toolPolicy: { permissions: 'read_only' } },
    provider: { provider: subject.otherProvider },
  };
  assert.deepEqual(Object.keys(changes).sort(), [...subject.capabilities.stableFields].sort());
  await sendsNothing(subject, async () => {
    for (const [changedField, change] of Object.entries(changes)) {
      const turn = subject.continue(handle, QUESTION, { config: { ...config, ...change } });
      await expectError(turn, 'stale_handle', { changedField });
    }
  });
  const renewed = { ...config, apiKey: 'another-key' };
  const { answer } = await subject.continue(handle, QUESTION, { config: renewed });
  assert.match(answer, /heron/, 'a new key is no new session');
}

/** CertApiSettings: model, system prompt, tools and policy hold in every request, in another process too. */
export async function apiSettings(subject: HistorySubject): Promise<void> {
  const tools = await subject.tools('stdio');
  const config = {
    ...tools.config,
    systemPrompt: 'Answer like a heron.',
    toolPolicy: { permissions: 'full', deny: [tools.toolName] },
  } as const;
  const { handle } = await subject.start(CODEWORD, { config });
  checkSettings(subject, tools.toolName);
  const message = `Write it. [[${JSON.stringify({ tools: [tools.append('denied')], after: [{ text: 'So be it.' }] })}]]`;
  const { answer } = await subject.continue(handle, message, { config });
  assert.equal(answer, 'So be it.');
  checkSettings(subject, tools.toolName);
  assert.deepEqual(await subject.ledger(), [], 'effects of a tool that the policy denies');
}

function checkSettings(subject: HistorySubject, toolName: string): void {
  const request = subject.modelRequests().at(-1);
  assert.equal(request?.model, subject.model);
  assert.match(request?.systemText ?? '', /Answer like a heron\./);
  assert.ok(request?.toolNames.includes(toolName), `the tools were ${request?.toolNames}`);
}
