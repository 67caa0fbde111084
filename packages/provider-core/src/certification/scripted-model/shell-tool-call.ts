import type { ModelProtocol } from './model-request.js';
import type { ScriptedToolCall } from './scripted-step.js';

/** A call of the shell tool that the CLI on this protocol offers: Claude Code's `Bash`, Codex CLI's `exec_command`. */
export function shellToolCall(protocol: ModelProtocol, command: string): ScriptedToolCall {
  if (protocol === 'openai-responses') return { name: 'exec_command', input: { cmd: command } };
  return { name: 'Bash', input: { command, description: 'Scripted command' } };
}
