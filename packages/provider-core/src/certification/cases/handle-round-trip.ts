import assert from 'node:assert/strict';
import type { CertificationSubject, HandleJson } from '../subject.js';

/** CertHandleRoundTrip: a handle survives JSON, also what a newer version wrote into it, and still continues. */
export async function handleRoundTrip(subject: CertificationSubject): Promise<void> {
  const started = await subject.start('Remember the codeword heron.');
  const fields = subject.providerFields(started.handle);
  assert.equal(fields['provider'], subject.provider);
  assert.equal(fields['transport'], subject.claims.way === 'tmux' ? 'tmux' : 'structured');
  assert.equal(fields['working_dir'], subject.workingDir);
  assert.equal(fields['model'], subject.model);
  assert.equal(fields['status'], 'idle');

  const newer = subject.withProviderFields(started.handle, {
    status: 'a_status_of_a_newer_version',
    a_newer_field: { kept: ['as', 'it', 'is'] },
  });
  const stored: HandleJson = JSON.parse(JSON.stringify(newer));
  assert.deepEqual(stored, newer, 'the handle after JSON');

  const turn = await subject.continue(stored, 'What is the codeword?');
  const after = subject.providerFields(turn.handle);
  assert.match(turn.answer, /heron/);
  assert.deepEqual(after['a_newer_field'], { kept: ['as', 'it', 'is'] });
  for (const name of ['provider', 'transport', 'native_session_id', 'working_dir', 'model']) {
    assert.equal(after[name], fields[name], `${name} after a turn`);
  }
  assert.equal(after['last_turn_id'], turn.turnId);
  assert.ok(Number(after['revision']) > Number(fields['revision']), 'the revision grew');

  // Closing ends processes, not the conversation.
  await subject.close(turn.handle);
  const reopened = await subject.continue(turn.handle, 'Once more: What is the codeword?');
  assert.match(reopened.answer, /heron/);
  const { native_session_id: id } = subject.providerFields(reopened.handle);
  assert.equal(id, fields['native_session_id'], 'the session after a close');
}
