import assert from 'node:assert/strict';
import type { McpServer } from '../../spec/session-config.js';
import type { CertificationSubject } from '../subject.js';

const systemPrompt = 'House rule 7341: name the colour of the door first.';

/** CertSemanticDigests: a new trace id, another order of keys and rotated secrets leave a handle as good as it was. */
export async function semanticDigests(subject: CertificationSubject): Promise<void> {
  const { handle } = await subject.start('Remember the codeword heron.', {
    config: { systemPrompt, mcpServers: serversWith(subject, 'one'), env: { TRACE_ID: 'one' } },
  });
  const turn = await subject.continue(handle, 'What is the codeword?', {
    config: {
      env: { TRACE_ID: 'two' },
      mcpServers: Object.fromEntries(Object.entries(serversWith(subject, 'two')).toReversed()),
      systemPrompt,
    },
  });
  assert.match(turn.answer, /heron/);
}

/** A server that is handed a new token each time, and one that is found elsewhere each time, as a bridge is. */
function serversWith(subject: CertificationSubject, token: string): Record<string, McpServer> {
  const [server] = Object.values(subject.mcpFixture.config.mcpServers ?? {});
  assert.ok(server && 'command' in server);
  const { command, args = [] } = server;
  return {
    tool: { command, args, env: { TOKEN: token } },
    bridge: { command, args: [...args, token], stableAs: 'bridge' },
  };
}
