import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';

/** The smallest tmux control client: one command a line, one reply each. */
export class ControlClient implements AsyncDisposable {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting: ((reply: string) => void)[] = [];
  #buffer = '';
  #reply: string[] | undefined;

  private constructor(socketPath: string) {
    this.#child = spawn(
      'tmux',
      ['-S', socketPath, '-f', '/dev/null', '-C', 'new-session', '-A', '-s', 'keeper', 'cat'],
      {
        env: PROBE_TMUX_ENV,
        stdio: ['pipe', 'pipe', 'pipe'],
      },
    );
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => this.#take(text));
    // A server that is killed under the client closes the pipe.
    this.#child.stdin.on('error', () => {});
    this.#child.on('exit', () => {
      for (const settle of this.#waiting.splice(0)) settle('');
    });
  }

  /** Attaches, and starts the server where there is none. */
  static async attach(socketPath: string): Promise<ControlClient> {
    const client = new ControlClient(socketPath);
    await new Promise<string>((resolve) => client.#waiting.push(resolve));
    await client.run('refresh-client -f no-output');
    await client.run('set-option -g status off');
    return client;
  }

  /** Runs one command line and gives what it prints. */
  run(line: string): Promise<string> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#child.stdin.write(`${line}\n`);
    });
  }

  /** Puts the text into a pane as one bracketed paste. */
  async paste(pane: string, text: string): Promise<void> {
    await Promise.all([
      this.run(`set-buffer -b probe ${quote(text)}`),
      this.run(`paste-buffer -p -r -d -b probe -t ${pane}`),
    ]);
  }

  /** What stands on the pane's screen. */
  capture(pane: string): Promise<string> {
    return this.run(`capture-pane -p -t ${pane}`);
  }

  /** Ends the server with every pane, and waits until this client has seen it. */
  async killServer(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.stdin.write('kill-server\n');
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.killServer();
  }

  #take(text: string): void {
    const lines = (this.#buffer + text).split('\n');
    this.#buffer = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('%begin ')) this.#reply = [];
      else if (/^%(end|error) /.test(line)) {
        this.#waiting.shift()?.((this.#reply ?? []).join('\n'));
        this.#reply = undefined;
      } else this.#reply?.push(line);
    }
  }
}

/** What a probe's tmux and its panes inherit. */
export const PROBE_TMUX_ENV = {
  PATH: process.env['PATH'] ?? '',
  LANG: 'C.UTF-8',
  TERM: 'xterm-256color',
};

/** One word of a tmux command line. */
export function quote(text: string): string {
  return `"${text.replace(/[\\"$#]/g, (character) => (character === '#' ? '#' : `\\${character}`)).replaceAll('\n', '\\n')}"`;
}
