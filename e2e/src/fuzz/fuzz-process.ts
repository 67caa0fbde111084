import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createDeferred } from '../harness/deferred.js';

/** What a service is made with: a provider's configuration as the harness wrote it, and how it is driven. */
export interface FuzzProcessOptions {
  readonly home: string;
  readonly agent: Readonly<Record<string, unknown>>;
}

/** What became of one text. */
export type FuzzOutcome =
  | { readonly outcome: 'answered' }
  | { readonly outcome: 'refused'; readonly reason: string }
  | { readonly outcome: 'failed'; readonly message: string };

/** A service process that sends one text after the other, as a user's own would. */
export interface FuzzProcess {
  /** `fresh`: in a session of its own. */
  readonly send: (text: string, options?: { readonly fresh?: boolean }) => Promise<FuzzOutcome>;
  /** Closes its sessions and ends. */
  readonly close: () => Promise<void>;
}

const program = fileURLToPath(new URL('./fuzz-worker.js', import.meta.url));

/** Starts a service in a scrubbed environment with a home of its own. */
export function startFuzzProcess({ home, agent }: FuzzProcessOptions): FuzzProcess {
  const child: ChildProcessWithoutNullStreams = spawn(process.execPath, [program], {
    cwd: home,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, LANG: 'C.UTF-8' },
    stdio: 'pipe',
  });
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const waiting: ReturnType<typeof createDeferred<FuzzOutcome>>[] = [];
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    errors += chunk;
  });
  child.stdin.on('error', () => {});
  createInterface({ input: child.stdout }).on('line', (line) =>
    waiting.shift()?.resolve(JSON.parse(line)),
  );
  void exited.then(() => {
    const message = `the service ended: ${errors.slice(-500)}`;
    for (const one of waiting) one.resolve({ outcome: 'failed', message });
  });
  const write = (line: object) => child.stdin.write(`${JSON.stringify(line)}\n`);
  write(agent);
  return {
    send: (text, { fresh = false } = {}) => {
      const outcome = createDeferred<FuzzOutcome>();
      waiting.push(outcome);
      write({ text, fresh });
      return outcome.promise;
    },
    close: async () => {
      child.stdin.end();
      await exited;
    },
  };
}
