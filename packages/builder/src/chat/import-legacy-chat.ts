import {
  type AgentSessionHandle,
  agentSessionHandleFromLegacyRuntime,
  readJsonFile,
  StateUnusableError,
} from '@holdfast/agent';
import type { ChatMessage, LegacyChat } from './legacy-chat.js';
import { decodeLegacyChat, decodeLegacyMessages } from './legacy-chat.wire.js';

/** What a legacy file gives, ready to become a chat. */
export interface LegacyImport {
  readonly record: LegacyChat;
  readonly messages: readonly ChatMessage[];
  /** Absent when the record names no agent runtime. */
  readonly handle?: AgentSessionHandle | undefined;
}

/**
 * Reads a chat file of an older system. A damaged one is moved aside by its name and reported, never overwritten;
 * a missing one is reported as unreadable.
 */
export async function readLegacyChat(
  path: string,
  options: { readonly workspaceIsWorkingDir?: boolean | undefined },
): Promise<LegacyImport> {
  const file = await readJsonFile(path);
  switch (file.state) {
    case 'absent':
      throw new StateUnusableError(path, 'unreadable', 'there is no such file.');
    case 'damaged':
      throw new StateUnusableError(path, 'damaged', `it stands at ${file.movedTo} now.`);
    case 'present':
      return readRecord(path, file.value, options);
  }
}

function readRecord(
  path: string,
  value: unknown,
  { workspaceIsWorkingDir }: { readonly workspaceIsWorkingDir?: boolean | undefined },
): LegacyImport {
  const record = decodeLegacyChat(value);
  if (!record) throw new StateUnusableError(path, 'damaged', 'it is no chat record.');
  const handle = agentSessionHandleFromLegacyRuntime(record.runtime, { workspaceIsWorkingDir });
  return { record, messages: decodeLegacyMessages(value), handle };
}
