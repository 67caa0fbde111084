import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { findProcesses } from '../../harness/processes.js';
import type { Measurement } from '../alternate.js';
import type { BenchPlace } from '../bench-place.js';
import { nextTag, taggedAnswer, taggedMessage } from '../timing-model.js';

interface Frame {
  readonly type?: string;
  readonly result?: string;
}

/** The smallest client of a Claude Code that reads and writes JSON lines: a child with the very arguments of one of ours. */
export class ClaudeChild {
  readonly sessionId: string;
  readonly #child: ChildProcess;
  #take: (frame: Frame, at: number) => void = () => {};
  #giveUp: () => void = () => {};

  private constructor(child: ChildProcess, sessionId: string) {
    this.#child = child;
    this.sessionId = sessionId;
    child.stdin?.on('error', () => {});
    child.on('exit', () => this.#giveUp());
    if (!child.stdout) throw new Error("The probe's child has no output.");
    createInterface({ input: child.stdout }).on('line', (line) => {
      const at = performance.now();
      this.#take(JSON.parse(line), at);
    });
  }

  /** Starts a child like the process of `ours`, with a session of its own, or in one that `resume` names. */
  static async like(place: BenchPlace, ours: string, resume?: string): Promise<ClaudeChild> {
    const [found] = await findProcesses(
      ({ command, environ }) =>
        command.startsWith(place.cli.binary) &&
        command.includes(ours) &&
        environ.includes('HOLDFAST_NONCE='),
    );
    if (!found) throw new Error('No process of ours runs in the session.');
    const sessionId = resume ?? randomUUID();
    const words = (await readFile(`/proc/${found.pid}/cmdline`, 'utf8')).split('\0').slice(1, -1);
    const settings = words[words.indexOf('--settings') + 1] ?? '';
    const from = dirname(settings);
    const to = await place.place.createFolder('probe');
    const move = (text: string) => text.replaceAll(from, to).replaceAll(ours, sessionId);
    await copyFiles(from, to, move);
    const args = words.map((word) =>
      /^--(resume|session-id)$/.test(word) ? (resume ? '--resume' : '--session-id') : move(word),
    );
    const pairs = found.environ.split('\0').filter((pair) => /^(?!HOLDFAST_)[^=]+=/.test(pair));
    const env = Object.fromEntries(pairs.map((pair) => pair.split(/=(.*)/s, 2)));
    const child = spawn(place.cli.binary, args, {
      env,
      cwd: place.place.workingDir,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    return new ClaudeChild(child, sessionId);
  }

  /** One turn: `answer` is the assistant's frame, `durable` the result's. */
  async turn(): Promise<Measurement | undefined> {
    const tag = nextTag();
    const start = performance.now();
    let answer = Number.NaN;
    const done = new Promise<Measurement | undefined>((resolve) => {
      this.#take = ({ type, result }, at) => {
        if (type === 'assistant') answer = at - start;
        if (type !== 'result') return;
        const isRight = result === taggedAnswer(tag);
        resolve(isRight ? { answer, durable: at - start } : undefined);
      };
      this.#giveUp = () => resolve(undefined);
    });
    const message = { role: 'user', content: [{ type: 'text', text: taggedMessage(tag) }] };
    const frame = { type: 'user', message, parent_tool_use_id: null, session_id: '' };
    this.#child.stdin?.write(`${JSON.stringify(frame)}\n`);
    return done;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}

/** Settings and scripts alone: a pipe, or what a process has written, is the session's. */
async function copyFiles(from: string, to: string, move: (text: string) => string): Promise<void> {
  for (const name of await readdir(from)) {
    const path = join(from, name);
    if (!/\.(json|sh|md|txt)$/.test(name) || !(await stat(path)).isFile()) continue;
    await copyFile(path, join(to, name));
    await writeFile(join(to, name), move(await readFile(path, 'utf8')));
  }
}
