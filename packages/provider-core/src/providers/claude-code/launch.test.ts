import { describe, expect, it } from 'vitest';
import type { LaunchRequest } from '../../spec/launch-plan.js';
import { launchInPane } from './launch.js';

const request: LaunchRequest = {
  config: {
    workingDir: '/home/user/work',
    model: 'sonnet',
    systemPrompt: 'Answer in verse.',
    mcpServers: {
      docs: { url: 'http://127.0.0.1:9/mcp' },
      files: { command: 'files', args: ['-v'] },
    },
    toolPolicy: { permissions: 'edit', allow: ['Bash(git log:*)'], deny: ['WebFetch'] },
    effort: 'low',
    endpoint: { baseUrl: 'http://127.0.0.1:9', apiKey: { env: 'GATEWAY_KEY' } },
    cliHome: '/home/user/cli',
  },
  cliVersion: '2.1.332',
  cliHome: '/home/user/cli',
  nativeSessionId: '0e1f2a3b-0000-4000-8000-000000000001',
  resume: false,
  finishInterruptedTurn: false,
  filesDir: '/home/user/state/files',
};

describe('launchInPane', () => {
  it('B03, B21, B117: gives a resume everything the first launch gave, but for how the session is named', () => {
    const first = launchInPane(request);
    const resumed = launchInPane({ ...request, resume: true });
    expect(resumed.args).toEqual(['--resume', ...first.args.slice(1)]);
    expect(first.args[0]).toBe('--session-id');
    expect(resumed.env).toEqual(first.env);
    expect(resumed.files).toEqual(first.files);
  });

  it('B60: puts no prompt, rule, server or secret into the arguments', () => {
    const args = launchInPane(request).args.join(' ');
    expect(args).not.toMatch(/verse|git log|WebFetch|127\.0\.0\.1|GATEWAY_KEY/);
    expect(args).toContain('--permission-mode acceptEdits');
    expect(args).toContain('--strict-mcp-config');
  });

  it('keeps a secret given by name as a name', () => {
    expect(launchInPane(request).env).toMatchObject({
      ANTHROPIC_AUTH_TOKEN: { env: 'GATEWAY_KEY' },
      CLAUDE_CONFIG_DIR: '/home/user/cli',
    });
  });

  it('leaves the default home where it is', () => {
    const config = { workingDir: '/home/user/work' };
    const { env, args } = launchInPane({ ...request, config, cliHome: '/home/user/.claude' });
    expect(env).not.toHaveProperty('CLAUDE_CONFIG_DIR');
    expect(args).toContain('default');
  });

  it('lets the CLI finish a cut-off turn only at a resume that asks for it', () => {
    const finishes = (resume: boolean, finishInterruptedTurn: boolean) =>
      'CLAUDE_CODE_RESUME_INTERRUPTED_TURN' in
      launchInPane({ ...request, resume, finishInterruptedTurn }).env;
    expect([finishes(true, true), finishes(true, false), finishes(false, true)]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
