import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { JsonLineReader } from '../../state/json-lines.js';
import type { TextChannel } from '../json-rpc/json-rpc-connection.js';

/** One JSON text a line, over a process's standard input and output. */
export function createLineChannel(child: ChildProcessWithoutNullStreams): TextChannel {
  const reader = new JsonLineReader();
  // What a dying process no longer reads is told by its end.
  child.stdin.on('error', () => {});
  child.stderr.resume();
  let isClosed = false;
  child.once('close', () => {
    isClosed = true;
  });
  return {
    send: (text) => {
      child.stdin.write(`${text}\n`);
    },
    onText: (listener) => {
      child.stdout.on('data', (chunk: Buffer) => {
        for (const { value } of reader.push(chunk)) {
          if (value !== undefined) listener(JSON.stringify(value));
        }
      });
    },
    onClose: (listener) => {
      if (isClosed) listener();
      else child.once('close', listener);
    },
    close: () => child.stdin.end(),
  };
}
