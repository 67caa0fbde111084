import assert from 'node:assert/strict';
import type { Usage } from '../../../spec/turn.js';
import type { HistorySubject } from '../../history-subject.js';
import { scripted } from '../../scripted-model/scripted-step.js';

/** CertApiUsage: a turn's tokens are those of all its requests, and the session's total counts every process's turns. */
export async function apiUsage(subject: HistorySubject): Promise<void> {
  const tools = await subject.tools('stdio');
  const { config } = tools;
  const once = { usage: { input: 100, output: 10 } };
  const first = await subject.start(scripted('Go.', { text: 'Went.', ...once }), { config });
  assert.deepEqual(countsOf(first.usage), [100, 10]);

  const steps = { tools: [tools.append('counted')], ...once, after: [{ text: 'Done.', ...once }] };
  const second = await subject.continue(first.handle, scripted('Write.', steps), { config });
  assert.deepEqual(countsOf(second.usage), [200, 20], 'both requests of the turn');
  assert.deepEqual(countsOf(second.sessionUsage), [300, 30], 'the turn of the first process too');
}

function countsOf(usage: Usage | undefined): readonly unknown[] {
  return [usage?.inputTokens, usage?.outputTokens];
}
