import { describe, expect, it } from 'vitest';
import { extractHandle } from './extract-handle.js';
import {
  decodeCodingProviderSessionHandle,
  encodeCodingProviderSessionHandle,
} from './provider-session-handle.wire.js';

const json = {
  provider: 'claude-code',
  transport: 'tmux',
  native_session_id: 'n-1',
  tmux_session: 'hf-1',
  working_dir: '/w',
  project_dir_id: 'p',
  model: 'm',
  status: 'hibernating',
  schema_version: 1,
  revision: 4,
  stable_fields: { model: 'abc' },
  last_turn_id: 't',
  from_the_future: { deep: [1] },
};
const legacyKeys = [
  { provider: 'claude-code', key: 'claude_code_session_id' },
  { provider: 'codex-cli', key: 'codex_thread_id' },
];

describe('the handle on the wire', () => {
  it('survives a round trip with keys and a status of a newer version', () => {
    const model = decodeCodingProviderSessionHandle(json);
    expect(model).toMatchObject({
      nativeSessionId: 'n-1',
      status: 'hibernating',
      stableFields: { model: 'abc' },
    });
    expect(encodeCodingProviderSessionHandle(model)).toEqual(json);
  });

  it('is read from JSON text, and blank strings count as absent', () => {
    const model = decodeCodingProviderSessionHandle(
      JSON.stringify({ ...json, tmux_session: '  ' }),
    );
    expect(model.tmuxSession).toBeUndefined();
    expect(encodeCodingProviderSessionHandle(model)).not.toHaveProperty('tmux_session');
  });

  it.each([
    [{ ...json, transport: 'telepathy' }, 'transport'],
    [{ ...json, provider: '' }, 'provider'],
    ['{torn', 'provider'],
    [null, 'provider'],
  ])('refuses %j naming what is missing', (value, missing) => {
    expect(() => decodeCodingProviderSessionHandle(value)).toThrow(
      expect.objectContaining({ kind: 'non_continuable', missing }),
    );
  });

  it('is found in a response, in its extra data, and under the older per-provider keys', () => {
    expect(extractHandle(json, legacyKeys)?.nativeSessionId).toBe('n-1');
    expect(
      extractHandle({ coding_provider_session_handle: JSON.stringify(json) }, legacyKeys)?.revision,
    ).toBe(4);
    expect(extractHandle({ codex_thread_id: 'th', working_dir: '/w' }, legacyKeys)).toMatchObject({
      provider: 'codex-cli',
      nativeSessionId: 'th',
      workingDir: '/w',
    });
    expect(extractHandle({ answer: 'none here' }, legacyKeys)).toBeUndefined();
  });
});
