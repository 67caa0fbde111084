import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  countMessage,
  type HandleJson,
  type SubjectTurn,
  scripted,
} from '@holdfast/provider-core/certification';
import type { CliUnderTest } from '../harness/cli-under-test.js';
import { RealSubject } from '../harness/real-subject.js';
import { waitFor } from '../harness/wait-for.js';
import type { PageCase } from './page-case.js';

/** Shorter than the compaction; what comes before it must fit into the first on a busy machine. */
const limits = { openMs: 10_000, acceptMs: 1_000 };
const COMPACTION_MS = limits.openMs + limits.acceptMs;
const WINDOW = 100_000;
const first = 'Remember the codeword heron.';
/** A history of one turn is never compacted, however long. */
const second = scripted('Go on.', { text: 'Noted.', usage: { input: WINDOW + 20_000 } });
const question = 'What is the codeword?';

/** A history that is compacted as its session comes back, for longer than anything else may take. */
export const compactions: readonly PageCase[] = [
  { name: 'B101: compaction of a resumed session extends the wait', run: compactsOnResume },
  { name: 'compaction of a turn that it was cut off in extends the wait', run: compactsAgain },
];

async function compactsOnResume(cli: CliUnderTest): Promise<void> {
  await using subject = await createSubject(cli);
  const handle = await leaveLongSession(subject);
  const compactions = slowDown(subject);
  await subject.lose(handle, 'all_processes');
  await expectAnswer(subject, await subject.continue(handle, question, { limits }));
  assert.equal(compactions.count, 1, 'compactions the model was asked for');
}

async function compactsAgain(cli: CliUnderTest): Promise<void> {
  await using subject = await createSubject(cli);
  const handle = await leaveLongSession(subject);
  const compactions = slowDown(subject);
  const turnId = crypto.randomUUID();
  const cutOff = subject.begin(handle, question, { turnId });
  await subject.waitUntil('a compaction', () => compactions.count === 1);
  await cutOff.kill();
  await subject.lose(handle, 'all_processes');
  const again = { turnId, onInterrupted: 'resume', limits } as const;
  await expectAnswer(subject, await subject.continue(handle, question, again));
  assert.equal(compactions.count, 2, 'compactions the model was asked for');
}

async function leaveLongSession(subject: RealSubject): Promise<HandleJson> {
  const { handle } = await subject.start(first);
  const turn = await subject.continue(handle, second);
  return turn.handle;
}

async function expectAnswer(subject: RealSubject, { answer, events }: SubjectTurn): Promise<void> {
  assert.match(answer, /heron/);
  const told = events.map(({ type }) => type).filter((type) => type.startsWith('compaction_'));
  assert.deepEqual(told, ['compaction_started', 'compaction_finished']);
  const request = subject.modelRequests().at(-1);
  assert.equal(request && countMessage(request, question), 1, 'times the model saw the message');
}

/** Makes the model compact longer than the limits, counted from its being asked. */
function slowDown({ lifetime }: RealSubject): { count: number } {
  const seen = { count: 0 };
  lifetime.onWindow(async ({ name, request }) => {
    if (name !== 'at_request' || request.sideReason !== 'compaction') return;
    seen.count += 1;
    const end = performance.now() + COMPACTION_MS;
    await waitFor('every limit to pass', () => performance.now() > end);
  });
  return seen;
}

async function createSubject(cli: CliUnderTest): Promise<RealSubject> {
  const isClaude = cli.provider === 'claude-code';
  const env = isClaude ? { CLAUDE_CODE_AUTO_COMPACT_WINDOW: String(WINDOW) } : {};
  const subject = await RealSubject.create({ cli, layer: 'provider-core', config: { env } });
  if (isClaude) return subject;
  const settings = join(subject.cliHome, 'config.toml');
  // Before the first table: below it, the key would belong to that one.
  await writeFile(
    settings,
    `model_auto_compact_token_limit = ${WINDOW}\n${await readFile(settings, 'utf8')}`,
  );
  return subject;
}
