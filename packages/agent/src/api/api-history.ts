import type { Message, ModelMessage } from '@holdfast/provider-core';
import type { HistoryStore } from '../history/history-store.js';
import type { HeldMessage } from '../history/session-history.js';
import { digestMessage } from '../message.js';
import type { ApiSessions } from './api-sessions.js';
import type { TranscriptState, TurnState } from './transcript-state.js';

/** What an API session holds, read from its transcript: the transcript is the history, and nothing is kept beside it. */
export function createApiHistory(sessions: ApiSessions): HistoryStore {
  return {
    load: async ({ nativeSessionId = '' }) => {
      const session = await sessions.find(nativeSessionId);
      return session && readHeld(session.transcript.state);
    },
    append: async () => {},
  };
}

/** The messages a transcript holds, as digests. Pure. */
function readHeld(state: TranscriptState): readonly HeldMessage[] {
  const taken = state.header?.conversation ?? [];
  return [...taken.flatMap(heldBefore), ...[...state.turns].flatMap(heldOfTurn)];
}

function heldBefore(message: ModelMessage): HeldMessage[] {
  if (message.role === 'tool') return [];
  const content: Message = message.content.flatMap((part) =>
    part.type === 'text' || part.type === 'image' ? [part] : [],
  );
  const digest = digestMessage(message.role, content);
  return [{ role: message.role, digest, state: 'settled' }];
}

function heldOfTurn({ turnId, message, messageDigest, outcome, parked }: TurnState): HeldMessage[] {
  if (!message) return [];
  const asked = { role: 'user', digest: messageDigest, turnId } as const;
  if (outcome?.status === 'completed') {
    const digest = digestMessage('assistant', outcome.answer);
    return [
      { ...asked, state: 'settled' },
      { role: 'assistant', digest, turnId, state: 'settled' },
    ];
  }
  return [{ ...asked, state: outcome || parked ? 'accepted' : 'open' }];
}
