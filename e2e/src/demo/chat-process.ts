import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { HandleJson } from '@holdfast/provider-core/certification';

/** What a chat worker is told. */
export interface ChatCommand {
  readonly dataDir: string;
  readonly chatId: string;
  readonly message: string;
  /** The options of the chat's agent. */
  readonly agent: HandleJson;
  /** Ends the session's processes after the answer. */
  readonly close?: boolean;
}

/** What a chat worker told. */
export interface ChatAnswer {
  readonly answer: string;
  readonly handle: HandleJson;
}

/** A service with a builder that answered one message and is still there. */
export interface ChatProcess {
  readonly pid: number;
  readonly answer: ChatAnswer;
  /** SIGKILL; resolves when the process is gone. */
  readonly kill: () => Promise<void>;
}

const program = fileURLToPath(new URL('./chat-worker.js', import.meta.url));

/** Starts a new service process and resolves with its answer. The process stays until it is killed. */
export async function askInNewProcess(command: ChatCommand, home: string): Promise<ChatProcess> {
  const child = spawn(process.execPath, ['--enable-source-maps', program], {
    cwd: home,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, LANG: 'C.UTF-8' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const kill = async () => {
    child.kill('SIGKILL');
    await gone;
  };
  child.stdin.write(`${JSON.stringify(command)}\n`);
  for await (const line of createInterface({ input: child.stdout })) {
    const told: ChatAnswer | { readonly error: string } = JSON.parse(line);
    if ('answer' in told) return { pid: child.pid ?? -1, answer: told, kill };
    await kill();
    throw new Error(told.error);
  }
  throw new Error('The chat worker ended without an answer.');
}
