import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** A program in a pty of 160x50 without tmux, by `script` of util-linux; the usual terminal questions are answered. */
export class RawPty {
  readonly #child: ChildProcessWithoutNullStreams;
  #output = '';

  constructor(
    argv: readonly string[],
    {
      env,
      workingDir,
    }: { readonly env: Readonly<Record<string, string>>; readonly workingDir: string },
  ) {
    const command = `stty rows 50 cols 160 -echo; exec ${argv.map(shellQuote).join(' ')}`;
    this.#child = spawn('script', ['-qefc', command, '/dev/null'], {
      env: { ...env, SHELL: '/bin/sh' },
      cwd: workingDir,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child.stdin.on('error', () => {});
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text;
      if (text.includes('\u001b[c')) this.write('\u001b[?62;c');
      if (text.includes('\u001b[6n')) this.write('\u001b[1;1R');
    });
  }

  /** Everything the program has written. */
  get output(): string {
    return this.#output;
  }

  /** Waits until what was written after `from` fits. */
  async awaitOutput(fits: RegExp, from = 0): Promise<void> {
    const end = performance.now() + 60_000;
    while (!fits.test(this.#output.slice(from))) {
      if (performance.now() > end) {
        throw new Error(`The probe's terminal does not show ${fits}: ${this.#output.slice(-500)}`);
      }
      await sleep(5);
    }
  }

  write(text: string): void {
    this.#child.stdin.write(text);
  }

  paste(text: string): void {
    this.write(`\u001b[200~${text}\u001b[201~`);
  }

  /** Hangs up, as a closed terminal does, and waits for the end. */
  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
  }
}

function shellQuote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
