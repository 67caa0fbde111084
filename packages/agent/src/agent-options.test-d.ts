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

it('an agent on a model API takes no option that is about a CLI, and an agent on a CLI none of its', () => {
  const options: AgentOptions = { provider: 'openai', model: 'm', transport: 'api', maxSteps: 3 };
  expectTypeOf(options).toExtend<AgentOptions>();
  // @ts-expect-error: a model API always needs a model
  const nameless: AgentOptions = { provider: 'anthropic' };
  // @ts-expect-error: a model API has no home of a CLI
  const homely: AgentOptions = { provider: 'google', model: 'm', cliHome: '/home' };
  // @ts-expect-error: a model API has no binary
  const binary: AgentOptions = { provider: 'openai', model: 'm', binary: '/bin/x' };
  // @ts-expect-error: a model API has no pane
  const pane: AgentOptions = { provider: 'openai-compatible', model: 'm', transport: 'tmux' };
  // @ts-expect-error: a CLI is reached through its endpoint
  const keyed: AgentOptions = { provider: 'codex-cli', workingDir: '/project', apiKey: 'k' };
  // @ts-expect-error: a CLI is not driven as an API
  const api: AgentOptions = { provider: 'codex-cli', workingDir: '/project', transport: 'api' };
  expectTypeOf([nameless, homely, binary, pane, keyed, api]).toExtend<AgentOptions[]>();
});

it('the codec and the public interface describe the same handle', () => {
  expectTypeOf<ReturnType<typeof decodeAgentSessionHandle>>().toEqualTypeOf<AgentSessionHandle>();
});
