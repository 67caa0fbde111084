import assert from 'node:assert/strict';
import { expectError, withoutRequests } from '../conversation.js';
import type { CertificationSubject } from '../subject.js';

/** CertStableMcpConfig: the MCP servers' tools are offered after a resume too, and changed servers are stale. */
export async function stableMcpConfig(subject: CertificationSubject): Promise<void> {
  const { config, toolName } = subject.mcpFixture;
  const { handle } = await subject.start('Remember the codeword heron.', { config });
  // The first request may leave before a server has answered; by the second turn its tools are known.
  await subject.continue(handle, 'Which tools are there?');
  checkTools(subject, toolName, 'before the loss');
  await withoutRequests(subject, () =>
    expectError(
      subject.continue(handle, 'Which tools?', { config: { mcpServers: {} } }),
      'stale_handle',
      { changedField: 'mcp_config' },
    ),
  );

  await subject.lose(handle, 'all_processes');
  await subject.continue(handle, 'Which tools after the loss?');
  await subject.continue(handle, 'And which tools at last?');
  checkTools(subject, toolName, 'after a resume');
}

function checkTools(subject: CertificationSubject, toolName: string, when: string): void {
  const request = subject.modelRequests().at(-1);
  assert.ok(
    request?.toolNames.some((name) => name.includes(toolName)) ||
      request?.bodyText.includes(toolName),
    `${toolName} was not offered ${when}`,
  );
}
