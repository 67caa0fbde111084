import assert from 'node:assert/strict';
import type { McpServer } from '../../spec/session-config.js';
import type { CertificationSubject } from '../subject.js';

const systemPrompt = 'House rule 7341: name the colour of the door first.';

/** CertSemanticDigests: a new trace id, another order of keys and rotated secrets leave a handle as good as it was. */
export async function semanticDigests(subject: CertificationSubject): Promise<void> {
  const servers = Object.entries(subject.mcpFixture.config.mcpServers ?? {});
  const twice = [...servers, ...servers.map(([name, server]) => [`${name}_too`, server] as const)];
  const { handle } = await subject.start('Remember the codeword heron.', {
    config: {
      systemPrompt,
      mcpServers: Object.fromEntries(twice.map(([name, s]) => [name, withToken(s, 'one')])),
      env: { TRACE_ID: 'one' },
    },
  });
  const turn = await subject.continue(handle, 'What is the codeword?', {
    config: {
      env: { TRACE_ID: 'two' },
      mcpServers: Object.fromEntries(
        twice.toReversed().map(([name, server]) => [name, withToken(server, 'two')]),
      ),
      systemPrompt,
    },
  });
  assert.match(turn.answer, /heron/);
}

function withToken(server: McpServer, token: string): McpServer {
  return 'command' in server ? { env: { TOKEN: token }, ...server } : server;
}
