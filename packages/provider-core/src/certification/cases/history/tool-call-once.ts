import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { expectError } from '../../conversation.js';
import type { HistorySubject, LedgerTools, ToolServerKind } from '../../history-subject.js';
import { type ScriptedToolCall, scripted } from '../../scripted-model/scripted-step.js';
import type { HandleJson } from '../../subject.js';
import { CODEWORD, readToolResults, sendsNothing } from './check-history.js';

/** CertToolCallOnce: a kill between a tool's call and its result ends in a typed decision, never in a second effect. */
export async function toolCallOnce(subject: HistorySubject): Promise<void> {
  for (const kind of ['stdio', 'http'] as const) await provenFor(subject, kind);
}

async function provenFor(subject: HistorySubject, kind: ToolServerKind): Promise<void> {
  const tools = await subject.tools(kind);
  const { handle } = await subject.start(CODEWORD, { config: tools.config });
  const place: Place = { subject, tools, handle, kind };

  await killedInCall(place, 'kill_after', 1);
  await killedInCall(place, 'kill_before', 0);
  await killedAfterResult(place);
  await killedInLook(place);
}

interface Place {
  readonly subject: HistorySubject;
  readonly tools: LedgerTools;
  readonly handle: HandleJson;
  readonly kind: ToolServerKind;
}

/** The tool's effect is there or not; nobody saw its result. */
async function killedInCall(
  { subject, tools, handle, kind }: Place,
  trick: 'kill_before' | 'kill_after',
  effects: number,
): Promise<void> {
  const tag = `${kind}-${trick}`;
  const message = asking(`Write ${tag}.`, tools.append(tag, trick));
  const turn = { turnId: randomUUID(), config: tools.config };
  await expectError(subject.begin(handle, message, turn).finished, 'worker_died');
  await expectEffects(subject, tag, effects);

  await sendsNothing(subject, async () => {
    const facts = { accepted: true, inHistory: true };
    await expectError(subject.continue(handle, message, turn), 'turn_interrupted', facts);
  });
  const resumed = await subject.continue(handle, message, { ...turn, onInterrupted: 'resume' });
  assert.deepEqual([resumed.answer, resumed.recovered], [DONE, true]);
  assert.match(readToolResults(subject).at(-1) ?? '', /may have taken effect/);
  await expectEffects(subject, tag, effects);
}

/** The result is on record, so there is nothing to decide. */
async function killedAfterResult({ subject, tools, handle, kind }: Place): Promise<void> {
  const tag = `${kind}-finished`;
  const message = asking(`Write ${tag}.`, tools.append(tag));
  const turn = { turnId: randomUUID(), config: tools.config };
  const killed = subject.begin(handle, message, { ...turn, dieAt: 'api:tool_call_finished' });
  await expectError(killed.finished, 'worker_died');
  const { answer } = await subject.continue(handle, message, turn);
  assert.equal(answer, DONE);
  assert.match(readToolResults(subject).at(-1) ?? '', new RegExp(`wrote ${tag}`));
  await expectEffects(subject, tag, 1);
}

/** A tool that changes nothing is called again. */
async function killedInLook({ subject, tools, handle, kind }: Place): Promise<void> {
  const tag = `${kind}-look`;
  const message = asking(`Look at ${tag}.`, tools.look(tag, 'kill_after'));
  const turn = { turnId: randomUUID(), config: tools.config };
  await expectError(subject.begin(handle, message, turn).finished, 'worker_died');
  const resumed = await subject.continue(handle, message, { ...turn, onInterrupted: 'resume' });
  assert.equal(resumed.answer, DONE);
  assert.match(readToolResults(subject).at(-1) ?? '', new RegExp(`saw ${tag}`));
  await expectEffects(subject, tag, 2);
}

const DONE = 'It is done.';

function asking(text: string, call: ScriptedToolCall): string {
  return scripted(text, { tools: [call], after: [{ text: DONE }] });
}

async function expectEffects(subject: HistorySubject, tag: string, times: number): Promise<void> {
  const lines = await subject.ledger();
  assert.equal(lines.filter((line) => line === tag).length, times, `effects of ${tag}`);
}
