import { expectTypeOf, it } from 'vitest';
import type { StartRequest } from '../continuation/start-session.js';
import type { ProviderId } from './registry.js';

it('knows the ids of its own providers', () => {
  expectTypeOf<ProviderId>().toEqualTypeOf<'claude-code' | 'codex-cli'>();
});

it('takes an option only where the provider has it', () => {
  const toolPolicy = { permissions: 'edit', allow: ['Bash(ls)'] } as const;
  const claude: StartRequest<'claude-code'> = {
    provider: 'claude-code',
    config: { workingDir: '/w', toolPolicy },
    message: 'hi',
  };
  const codex: StartRequest<'codex-cli'> = {
    provider: 'codex-cli',
    // @ts-expect-error: Codex has no tool patterns
    config: { workingDir: '/w', toolPolicy: { permissions: 'edit', allow: ['Bash(ls)'] } },
    message: 'hi',
  };
  const bounded: StartRequest<'claude-code'> = {
    provider: 'claude-code',
    // @ts-expect-error: Claude Code has no sandbox of its own
    config: { workingDir: '/w', writableRoots: ['/w'] },
    message: 'hi',
  };
  const launched: StartRequest<'codex-cli'> = {
    provider: 'codex-cli',
    // @ts-expect-error: Codex is not started behind a launcher
    config: { workingDir: '/w', launcher: ['/usr/bin/env'] },
    message: 'hi',
  };
  expectTypeOf([claude, codex, bounded, launched]).toBeArray();
});
