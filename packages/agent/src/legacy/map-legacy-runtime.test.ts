import { describe, expect, it } from 'vitest';
import { agentSessionHandleFromLegacyRuntime } from './map-legacy-runtime.js';

const legacy = {
  kind: 'coding_agent',
  provider: 'claude-code',
  model_id: 'model-1',
  transport: 'tmux',
  external_session_id: 'native-1',
  resume_supported: true,
  resume_flag: '--resume',
  project_dir_id: 'p-1',
  workspace_path: '/workspace',
  captured_at: '2026-01-02T03:04:05Z',
};

describe('agentSessionHandleFromLegacyRuntime', () => {
  it('maps the compatibility fields one by one', () => {
    expect(agentSessionHandleFromLegacyRuntime(legacy)?.provider).toEqual({
      provider: 'claude-code',
      transport: 'tmux',
      nativeSessionId: 'native-1',
      projectDirId: 'p-1',
      model: 'model-1',
    });
  });

  it('takes the workspace for the working directory only when told that it was', () => {
    const handle = agentSessionHandleFromLegacyRuntime(legacy, { workspaceIsWorkingDir: true });
    expect(handle?.provider.workingDir).toBe('/workspace');
  });

  it('prefers the nested handle, and keeps its identity and unknown keys', () => {
    const nested = {
      session_id: 's-1',
      owner_id: 'o-1',
      scope: 'coding_agent',
      provider: {
        provider: 'claude-code',
        transport: 'tmux',
        native_session_id: 'native-2',
        model: 'model-2',
        account_id: 'kept',
      },
    };
    const handle = agentSessionHandleFromLegacyRuntime({ ...legacy, agent_session_handle: nested });
    expect(handle).toMatchObject({
      sessionId: 's-1',
      ownerId: 'o-1',
      scope: 'coding_agent',
      provider: { nativeSessionId: 'native-2', model: 'model-2', account_id: 'kept' },
    });
  });

  it.each([
    [
      'an object',
      { provider: { provider: 'claude-code', transport: 'tmux', native_session_id: ' ' } },
    ],
    ['JSON text', '{"session_id":"s","provider":{"native_session_id":""}}'],
    ['without a provider', { session_id: 's' }],
  ])(
    'falls through to the legacy fields when the nested handle, %s, has a blank native id',
    (_what, nested) => {
      const handle = agentSessionHandleFromLegacyRuntime({
        ...legacy,
        agent_session_handle: nested,
      });
      expect(handle?.provider.nativeSessionId).toBe('native-1');
    },
  );

  it('reads the older key of the provider itself', () => {
    const { external_session_id: _none, ...rest } = legacy;
    const handle = agentSessionHandleFromLegacyRuntime({
      ...rest,
      claude_code_session_id: 'native-3',
    });
    expect(handle?.provider.nativeSessionId).toBe('native-3');
  });

  it('fills a blank transport from what the provider claims', () => {
    const handle = agentSessionHandleFromLegacyRuntime({ ...legacy, transport: '' });
    expect(handle?.provider.transport).toBe('tmux');
  });

  it('gives the restored session to its new owner', () => {
    const handle = agentSessionHandleFromLegacyRuntime(
      { ...legacy, agent_session_handle: { session_id: 'old', owner_id: 'old' } },
      { identity: { sessionId: 'chat-1', ownerId: 'chat-1' } },
    );
    expect(handle).toMatchObject({ sessionId: 'chat-1', ownerId: 'chat-1' });
  });

  it('gives a handle without a native id when none was kept, so that continuing it fails typed', () => {
    const { external_session_id: _none, ...rest } = legacy;
    expect(agentSessionHandleFromLegacyRuntime(rest)?.provider.nativeSessionId).toBeUndefined();
  });

  it('gives nothing for what is no record', () => {
    expect(agentSessionHandleFromLegacyRuntime(undefined)).toBeUndefined();
    expect(agentSessionHandleFromLegacyRuntime('not json')).toBeUndefined();
  });
});
