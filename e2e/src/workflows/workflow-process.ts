import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { waitFor } from '../harness/wait-for.js';
import type { WorkflowCommand, WorkflowLine } from './workflow-command.js';

/** A service with a builder, in a process of its own. */
export interface WorkflowProcess {
  readonly pid: number;
  /** Everything it told so far. */
  readonly lines: readonly WorkflowLine[];
  /** The first line that fits, also one that came before; an `error` line, or its end, is thrown. */
  readonly waitForLine: <Type extends WorkflowLine['type']>(
    type: Type,
    isWanted?: (line: Extract<WorkflowLine, { readonly type: Type }>) => boolean,
  ) => Promise<Extract<WorkflowLine, { readonly type: Type }>>;
  /** Gives the learning lock back, or ends the session of the desk's chat and stops. */
  readonly tell: (word: 'let go' | 'close') => void;
  /** SIGKILL; resolves when the process is gone. */
  readonly kill: () => Promise<void>;
  /** Resolves once the process has ended by itself or was killed. */
  readonly gone: Promise<void>;
}

const program = fileURLToPath(new URL('./workflow-worker.js', import.meta.url));
const DEADLINE_MS = 120_000;

/** Starts a new service process. It stays until it is killed, or dies at the step that `env` names. */
export function startWorkflowProcess(
  command: WorkflowCommand,
  home: string,
  env: Readonly<Record<string, string>> = {},
): WorkflowProcess {
  const child = spawn(process.execPath, ['--enable-source-maps', program], {
    cwd: home,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, LANG: 'C.UTF-8', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines: WorkflowLine[] = [];
  let hasEnded = false;
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve())).then(() => {
    hasEnded = true;
  });
  // A service that was killed takes no more input.
  child.stdin.on('error', () => {});
  child.stdin.write(`${JSON.stringify(command)}\n`);
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line)));
  return {
    pid: child.pid ?? -1,
    lines,
    waitForLine: async (type, isWanted = () => true) => {
      const isFit = (line: WorkflowLine): line is Extract<WorkflowLine, { type: typeof type }> =>
        line.type === type && isWanted(line as Extract<WorkflowLine, { type: typeof type }>);
      let found: Extract<WorkflowLine, { readonly type: typeof type }> | undefined;
      const look = () => {
        found = lines.find(isFit);
        const failed = lines.find((line) => line.type === 'error');
        if (!found && failed) throw new Error(failed.error);
        if (!found && hasEnded) throw new Error(`The service ended before it told "${type}".`);
        return found !== undefined;
      };
      await waitFor(`the service's line "${type}"`, look, { deadlineMs: DEADLINE_MS });
      if (!found) throw new Error('unreachable: it was waited for');
      return found;
    },
    tell: (word) => child.stdin.write(`${word}\n`),
    kill: async () => {
      child.kill('SIGKILL');
      await gone;
    },
    gone,
  };
}
