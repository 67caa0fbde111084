import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { HistorySubject, LedgerTools } from '../../history-subject.js';
import { scripted } from '../../scripted-model/scripted-step.js';
import type { HandleJson, ScriptedDecision } from '../../subject.js';
import { CODEWORD, readToolResults } from './check-history.js';

interface Place {
  readonly subject: HistorySubject;
  readonly tools: LedgerTools;
  readonly handle: HandleJson;
}

/** CertApiApproval: the host allows or denies a call, silence denies it, and an open request outlives its process. */
export async function apiApproval(subject: HistorySubject): Promise<void> {
  const given = await subject.tools('stdio');
  const asking = { ...given.config, toolPolicy: { permissions: 'ask' } } as const;
  const tools = { ...given, config: asking };
  const { handle } = await subject.start(CODEWORD, { config: asking });
  const place = { subject, tools, handle };

  await decided(place, 'allowed', { decision: 'allow' });
  assert.match(readToolResults(subject).at(-1) ?? '', /wrote allowed/);
  await decided(place, 'refused', { decision: 'deny', message: 'not on a Sunday' });
  assert.match(readToolResults(subject).at(-1) ?? '', /not on a Sunday/);
  await decided(place, 'unheard', { decision: 'never' });
  await decided(place, 'unasked', undefined);
  assert.deepEqual(await subject.ledger(), ['allowed']);

  await askedAgain(place);
  assert.deepEqual(await subject.ledger(), ['allowed', 'pending']);
}

async function decided(
  { subject, tools, handle }: Place,
  tag: string,
  decision: ScriptedDecision | undefined,
): Promise<void> {
  const turn = await subject.continue(handle, messageOf(tools, tag), {
    config: tools.config,
    limits: { approvalMs: decision?.decision === 'never' ? 300 : 60_000 },
    ...(decision && { decisions: [decision] }),
  });
  assert.equal(turn.answer, 'It is settled.');
  assert.equal(turn.requests.length, decision ? 1 : 0, `requests about ${tag}`);
}

async function askedAgain({ subject, tools, handle }: Place): Promise<void> {
  const message = messageOf(tools, 'pending');
  const turn = { turnId: randomUUID(), config: tools.config };
  const waiting = subject.begin(handle, message, { ...turn, decisions: [{ decision: 'never' }] });
  await subject.waitUntil('the host to be asked', () => waiting.requests().length === 1);
  await waiting.kill();
  const { answer, requests } = await subject.continue(handle, message, {
    ...turn,
    decisions: [{ decision: 'allow' }],
  });
  assert.equal(answer, 'It is settled.');
  const [request] = requests;
  assert.equal(request?.requestId, waiting.requests()[0]?.requestId, 'the id of the open request');
  assert.equal(requests.length, 1);
}

function messageOf(tools: LedgerTools, tag: string): string {
  const after = [{ text: 'It is settled.' }];
  return scripted(`Write ${tag}.`, { tools: [tools.append(tag)], after });
}
