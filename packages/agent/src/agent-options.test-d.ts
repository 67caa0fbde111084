import type { ConfigOf } from '@holdfast/provider-core';
import { expectTypeOf, it } from 'vitest';
import { type AgentOptions, sessionConfigOf } from './agent-options.js';
import type { AgentSessionHandle } from './agent-session-handle.js';
import type { decodeAgentSessionHandle } from './agent-session-handle.wire.js';

it('an agent takes the options of its own provider and no others', () => {
  const options: AgentOptions = { provider: 'codex-cli', workingDir: '/project' };
  expectTypeOf(sessionConfigOf(options)).toExtend<ConfigOf<'claude-code' | 'codex-cli'>>();
  // @ts-expect-error: no such option
  const mistyped: AgentOptions = { provider: 'codex-cli', workingDir: '/project', modell: 'x' };
  expectTypeOf(mistyped).toExtend<AgentOptions>();
});

it('the codec and the public interface describe the same handle', () => {
  expectTypeOf<ReturnType<typeof decodeAgentSessionHandle>>().toEqualTypeOf<AgentSessionHandle>();
});
