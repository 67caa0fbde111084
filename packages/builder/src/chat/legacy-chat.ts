import type { LegacyRuntime } from '@holdfast/agent';

/** One message of a chat, for display. */
export interface ChatMessage {
  readonly role: 'user' | 'assistant' | 'system' | 'tool';
  readonly text: string;
  /** Absent for what an older system kept. */
  readonly turnId?: string | undefined;
  readonly at?: string | undefined;
  /** Set on what was put into a turn that ran already. */
  readonly messageId?: string | undefined;
}

/** The record an older system kept of a chat, but for its messages. Every field may be missing. */
export interface LegacyChat {
  readonly sessionId?: string | undefined;
  readonly agentMode?: string | undefined;
  readonly phaseId?: string | undefined;
  readonly workshopMode?: string | undefined;
  readonly updatedAt?: string | undefined;
  readonly runtime?: LegacyRuntime | undefined;
  /** Kept as they were. */
  readonly terminalSnapshots?: readonly unknown[] | undefined;
  /** Kept as they were. */
  readonly uiEvents?: readonly unknown[] | undefined;
}
