import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkConversation } from '@holdfast/provider-core/certification';
import type { RealSubject } from '../harness/real-subject.js';

/** What the scenario shows of one CLI. */
export interface LossReport {
  readonly provider: string;
  readonly cliVersion: string;
  readonly killed: 'tmux';
  readonly recalled: boolean;
  readonly messagesSentOnResume: number;
  readonly sameNativeSession: boolean;
  readonly recoveryMs: number;
}

const CODEWORD = 'heron';
const TELL = `Remember the codeword ${CODEWORD}. Answer with OK alone.`;
const ASK = 'What is the codeword? Answer with that word alone.';

/**
 * Starts a session, keeps nothing of it but its handle in a JSON file, kills its tmux session, and continues it in a
 * process that has never seen it.
 */
export async function loseAndContinue(
  subject: RealSubject,
  { provider, version }: { readonly provider: string; readonly version: string },
  isScripted: boolean,
): Promise<LossReport> {
  const file = join(subject.place.root, 'handle.json');
  const started = await subject.start(TELL);
  await writeFile(file, JSON.stringify(started.handle), { mode: 0o600 });
  const before = (await subject.recordedMessages(started.handle)).length;
  await subject.lose(started.handle, 'pane');
  await subject.restartModel();

  const begun = performance.now();
  const turn = await subject.continue(JSON.parse(await readFile(file, 'utf8')), ASK);
  const recoveryMs = Math.round(performance.now() - begun);
  const recorded = await subject.recordedMessages(turn.handle);
  if (isScripted) await checkConversation(subject, turn.handle, [TELL, ASK]);
  assert.equal(recorded.at(-1), ASK, 'the last message in the record');
  const sessions = await subject.nativeSessions();
  return {
    provider,
    cliVersion: version,
    killed: 'tmux',
    recalled: turn.answer.toLowerCase().includes(CODEWORD),
    messagesSentOnResume: recorded.length - before,
    sameNativeSession:
      subject.nativeSessionId(turn.handle) === subject.nativeSessionId(started.handle) &&
      sessions.length === 1,
    recoveryMs,
  };
}

/** Whether the report shows what was promised. */
export function isGoodReport(report: LossReport): boolean {
  return report.recalled && report.messagesSentOnResume === 1 && report.sameNativeSession;
}
