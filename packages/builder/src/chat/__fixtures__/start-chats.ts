import { join } from 'node:path';
import { createAgentRegistry } from '../../agents.js';
import type { MemorySessions } from '../../__fixtures__/memory-sessions.js';
import { createFileStore } from '../../persistence/file-store.js';
import type { ChatContext } from '../chat-context.js';
import { type Chats, createChats } from '../chats.js';
import { recoverChats } from '../recover-chats.js';

/** The chats of one process of ours: what a builder makes of them, alone. */
export interface StartedChats extends AsyncDisposable {
  readonly context: ChatContext;
  readonly chats: Chats;
  readonly recovered: Awaited<ReturnType<typeof recoverChats>>['chats'];
}

interface StartOptions {
  /** Below it stand `data` and `state`. */
  readonly dir: string;
  readonly sessions: MemorySessions;
  readonly engine?: ChatContext['engine'];
  readonly clock?: ChatContext['clock'];
}

export async function startChats({
  dir,
  sessions,
  engine,
  clock,
}: StartOptions): Promise<StartedChats> {
  let isClosed = false;
  const context: ChatContext = {
    store: createFileStore({ dataDir: join(dir, 'data') }),
    agents: createAgentRegistry({
      coder: {
        provider: 'claude-code',
        workingDir: '/project',
        stateDir: join(dir, 'state'),
        sessions,
      },
    }),
    engine,
    clock,
    checkOpen: () => {
      if (isClosed) throw new TypeError('closed');
    },
  };
  const { chats: recovered } = await recoverChats(context);
  return {
    context,
    chats: createChats(context),
    recovered,
    [Symbol.asyncDispose]: async () => {
      isClosed = true;
    },
  };
}
