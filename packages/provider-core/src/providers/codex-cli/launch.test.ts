import { describe, expect, it } from 'vitest';
import type { SessionConfig } from '../../spec/session-config.js';
import { planPaneLaunch, planServerLaunch, planThreadResume, planThreadStart } from './launch.js';

const config: SessionConfig = {
  workingDir: '/home/dev/project',
  model: 'gpt-x',
  systemPrompt: 'Be brief.',
  effort: 'low',
  toolPolicy: { permissions: 'read_only' },
  mcpServers: { notes: { command: 'notes', env: { TOKEN: 'mcp-secret' } } },
  endpoint: { baseUrl: 'http://127.0.0.1:8080/v1', apiKey: 'endpoint-secret' },
};
const request = {
  config,
  cliHome: '/home/dev/.codex',
  socketPath: '/run/s',
  apiKey: 'endpoint-secret',
};

const plain = { trust: undefined };

describe('the launch', () => {
  it('puts neither a secret nor the prompt into an argument', () => {
    const server = planServerLaunch(request);
    const pane = planPaneLaunch({ ...request, nativeSessionId: 'id' });

    for (const text of ['endpoint-secret', 'mcp-secret', 'Be brief.']) {
      expect([...server.args, ...pane.args].join(' ')).not.toContain(text);
    }
    expect(server.env).toMatchObject({ HOLDFAST_ENDPOINT_KEY: 'endpoint-secret' });
    expect(pane.env).not.toHaveProperty('HOLDFAST_ENDPOINT_KEY');
  });

  it('is the same server for sessions that differ in what they bring themselves', () => {
    const other = { ...config, workingDir: '/elsewhere', systemPrompt: 'Other.', mcpServers: {} };

    expect(planServerLaunch({ ...request, config: other })).toEqual(planServerLaunch(request));
  });

  it('keeps the vendor’s own provider when no endpoint is given', () => {
    const { args } = planServerLaunch({ ...request, config: { workingDir: '/w' } });

    expect(args.join(' ')).not.toContain('model_provider');
  });

  it('refuses a password in the endpoint’s address', () => {
    const endpoint = { baseUrl: 'http://user:secret@127.0.0.1/v1' };

    expect(() => planServerLaunch({ ...request, config: { ...config, endpoint } })).toThrow(
      TypeError,
    );
  });

  it('quotes what a TOML string cannot hold', () => {
    const endpoint = { baseUrl: 'http://127.0.0.1/v1?a="b"\u007f' };
    const { args } = planServerLaunch({ ...request, config: { workingDir: '/w', endpoint } });

    expect(args.find((arg) => arg.includes('base_url'))).toMatch(/=".*\\"b\\"\\u007f"$/);
  });

  it('B21, B115: repeats at a resume what the rollout does not bring back', () => {
    const plan = planThreadResume({ ...plain, config, nativeSessionId: 'id' });

    expect(plan.params).toMatchObject({
      threadId: 'id',
      cwd: '/home/dev/project',
      sandbox: 'read-only',
      approvalPolicy: 'never',
      model: 'gpt-x',
      config: { model_reasoning_effort: 'low', mcp_servers: { notes: { command: 'notes' } } },
    });
    expect(plan.params).not.toHaveProperty('developerInstructions');
  });

  it.each([
    ['read_only', 'read-only', 'never'],
    ['ask', 'workspace-write', 'on-request'],
    ['edit', 'workspace-write', 'never'],
    ['full', 'danger-full-access', 'never'],
  ] as const)('starts %s as %s with approvals %s', (permissions, sandbox, approvalPolicy) => {
    const { params } = planThreadStart({
      ...plain,
      config: { ...config, toolPolicy: { permissions } },
      trust: 'untrusted',
    });

    expect(params).toMatchObject({
      sandbox,
      approvalPolicy,
      developerInstructions: 'Be brief.',
      config: { projects: { '/home/dev/project': { trust_level: 'untrusted' } } },
    });
  });

  it('B84: gives the servers it starts the mark by which they are found again', () => {
    const { params } = planThreadStart({ ...plain, config });

    expect(params).toHaveProperty('config.mcp_servers.notes.env_vars', ['HOLDFAST_NONCE']);
  });

  it('refuses tool patterns, which Codex does not have', () => {
    const toolPolicy = { permissions: 'ask', allow: ['Bash(ls:*)'] } as const;

    expect(() => planThreadStart({ ...plain, config: { ...config, toolPolicy } })).toThrow(
      TypeError,
    );
  });

  it('lets the model ask outside of plan mode too', () => {
    expect(planThreadStart({ config, trust: undefined }).params).toHaveProperty(
      'config.features.default_mode_request_user_input',
      true,
    );
  });
});
