import { type ChildProcess, spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { isTurnError } from '@holdfast/provider-core';
import { BenchPlace } from '../bench-place.js';
import { bound } from '../bench-row.js';
import { nextTag, taggedMessage } from '../timing-model.js';
import type { Suite } from './suite.js';

const SIZES_KB = [0.1, 2, 20, 200];

/** Row 7: messages of every size, first and later turns, with every core busy: each stands once before the model. */
const delivery = (provider: string): Suite => ({
  rows: ['7'],
  provider,
  run: async (request) => {
    await using place = await BenchPlace.create(request.cli, request.program);
    await using _hogs = keepCoresBusy();
    const { sessions, messages } = request.isQuick
      ? { sessions: 2, messages: 5 }
      : { sessions: 10, messages: 20 };
    const sent: string[] = [];
    const refused: string[] = [];
    for (let session = 0; session < sessions; session++) {
      await fillSession(place, { messages, first: session, sent, refused });
    }
    const seen = (await place.model.conversations()).flat();
    const count = (tag: string) => seen.filter((each) => each === tag).length;
    const lost = sent.filter((tag) => count(tag) === 0).length;
    const doubled = sent.filter((tag) => count(tag) > 1).length;
    return [
      bound(
        {
          row: '7',
          provider: request.cli.provider,
          cliVersion: request.cli.version,
          what: 'messages lost or sent twice, 0.1 to 200 kB, every core busy',
          unit: 'messages',
          target: { of: 'ours', atMost: 0 },
          note: `${sent.length} sent, ${lost} lost, ${doubled} twice, ${refused.length} refused before sending`,
        },
        lost + doubled,
        sent.length,
      ),
    ];
  },
});

interface Filling {
  readonly messages: number;
  /** Where in the sizes the session begins, so that every size is a first message once. */
  readonly first: number;
  readonly sent: string[];
  readonly refused: string[];
}

async function fillSession(
  place: BenchPlace,
  { messages, first, sent, refused }: Filling,
): Promise<void> {
  let handle: Awaited<ReturnType<BenchPlace['start']>> | undefined;
  for (let number = 0; number < messages; number++) {
    const tag = nextTag();
    const text = messageOf(tag, SIZES_KB[(first + number) % SIZES_KB.length] ?? 1);
    try {
      if (handle) await place.continue(handle, text);
      else handle = await place.start(text);
      sent.push(tag);
    } catch (error) {
      // What a CLI cannot take exactly is told before the first byte; that is no loss.
      if (!isTurnError(error) || error.kind !== 'undeliverable_message') throw error;
      refused.push(tag);
    }
  }
}

function messageOf(tag: string, kilobytes: number): string {
  const line = 'The quick brown fox jumps over the lazy dog, and nobody knows why it does.';
  const lines = Math.floor((kilobytes * 1_000) / (line.length + 1));
  return [taggedMessage(tag), ...Array.from({ length: lines }, () => line)].join('\n');
}

/** One busy process a core, until disposed. */
function keepCoresBusy(): AsyncDisposable {
  const hogs: ChildProcess[] = Array.from({ length: availableParallelism() }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  return {
    [Symbol.asyncDispose]: async () => {
      for (const hog of hogs) hog.kill('SIGKILL');
    },
  };
}

export const claudeDelivery = delivery('claude-code');
export const codexDelivery = delivery('codex-cli');
