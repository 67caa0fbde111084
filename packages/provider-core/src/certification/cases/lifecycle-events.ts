import assert from 'node:assert/strict';
import type { TurnEvent } from '../../spec/turn-event.js';
import { scripted } from '../scripted-model/scripted-step.js';
import type { CertificationSubject, RunningTurn } from '../subject.js';

const lifecycle = new Set([
  'resuming',
  'running',
  'completed',
  'failed',
  'lost_tmux',
  'resume_unavailable',
  'stale_handle',
]);

/** CertLifecycleEvents: each lifecycle event comes when its cause is real, and one final event comes last. */
export async function lifecycleEvents(subject: CertificationSubject): Promise<void> {
  const started = await subject.start('Remember the codeword heron.', {
    config: subject.withoutRetries,
  });
  checkEvents(started.events, ['running', 'completed']);
  const { handle } = started;

  const inTmux = subject.claims.way === 'tmux';
  await subject.lose(handle, inTmux ? 'pane' : 'all_processes');
  const recovered = await subject.continue(handle, 'What is the codeword?');
  checkEvents(recovered.events, [...recoveryOf(subject.claims), 'running', 'completed']);

  const failing = scripted('Fail once.', { status: 400, errorType: 'invalid_request_error' });
  checkEvents(await eventsOfFailure(subject.begin(handle, failing)), ['running', 'failed']);

  const stale = subject.begin(handle, 'Elsewhere?', {
    config: { workingDir: await subject.createFolder() },
  });
  checkEvents(await eventsOfFailure(stale), ['stale_handle']);

  await subject.lose(handle, 'all_processes');
  await subject.removeNativeHistory(handle);
  const gone = await eventsOfFailure(subject.begin(handle, 'Are you there?'));
  assert.equal(gone.at(-1)?.type, 'resume_unavailable');
}

/** What a recovery is told by; where each turn has its own process, there is nothing that could be lost. */
function recoveryOf({ way }: CertificationSubject['claims']): readonly string[] {
  if (way === 'per_turn') return [];
  return way === 'tmux' ? ['lost_tmux', 'resuming'] : ['resuming'];
}

function checkEvents(events: readonly TurnEvent[], expected: readonly string[]): void {
  assert.deepEqual(
    events.map(({ type }) => type).filter((type) => lifecycle.has(type)),
    expected,
  );
  assert.deepEqual(
    events.map(({ sequence }) => sequence),
    events.map((_, index) => index),
    'the sequence has no gap',
  );
  assert.equal(events.at(-1)?.type, expected.at(-1), 'the final event comes last');
}

async function eventsOfFailure(turn: RunningTurn): Promise<readonly TurnEvent[]> {
  await assert.rejects(turn.finished);
  return turn.events();
}
