import { statSync } from 'node:fs';
import { StateUnusableError } from '../../errors/turn-error.js';
import type { PermissionLevel } from '../../spec/session-config.js';
import type { StreamProcess, StreamSign } from '../../spec/stream-process.js';
import { readJsonLines } from '../../state/json-lines.js';
import type { FoundProcess } from '../../state/process-tree.js';
import type { SessionActivity, SessionContext } from '../session-transport.js';
import { streamFiles } from './stream-files.js';

/** What the process says to a request of ours. */
export type StreamAnswer = Extract<StreamSign, { type: 'answer' }>;

/** What a process has said of itself up to now, read on from where the last look ended. */
export class FrameState {
  readonly #way: StreamProcess;
  readonly #path: string;
  readonly #answers = new Map<string, StreamAnswer>();
  #offset = 0;
  #reading: Promise<void> = Promise.resolve();
  activity: SessionActivity | undefined;
  permissions: PermissionLevel | undefined;
  model: string | undefined;
  workingDir: string | undefined;
  /** What the process has cost by its own count; one that resumed may count the session's earlier turns too. */
  costUsd: number | undefined;
  readonly tasks = new Set<string>();

  constructor(way: StreamProcess, path: string) {
    this.#way = way;
    this.#path = path;
  }

  /** The place in the output up to which everything was read. */
  get offset(): number {
    return this.#offset;
  }

  /** Reads what was said since the last look. */
  readOn(): Promise<void> {
    this.#reading = this.#reading.then(
      () => this.#readNew(),
      () => this.#readNew(),
    );
    return this.#reading;
  }

  /** The output was cut: what comes now stands at its start. */
  noteCut(): void {
    this.#offset = 0;
  }

  /** A message has left us: until the process says otherwise, it is busy. */
  noteSent(): void {
    this.activity = 'busy';
  }

  /** The answer to a request of ours, once it has come; given out once. */
  takeAnswer(requestId: string): StreamAnswer | undefined {
    const answer = this.#answers.get(requestId);
    this.#answers.delete(requestId);
    return answer;
  }

  async #readNew(): Promise<void> {
    // A turn looks half a dozen times before its first byte, and mostly nothing was said since.
    if (sizeOf(this.#path) === this.#offset) return;
    const found = await readJsonLines(this.#path, { fromByte: this.#offset });
    if (found === 'absent') return;
    // Cut between two turns; or by a stranger, and then nobody knows what was in it.
    if (found.size < this.#offset) {
      this.#offset = 0;
      this.activity = undefined;
      return this.#readNew();
    }
    for (const { value } of found.lines) this.#way.readFrame(value).forEach(this.#take);
    this.#offset = found.endOffset;
  }

  readonly #take = (sign: StreamSign): void => {
    switch (sign.type) {
      case 'activity':
        this.activity = sign.activity;
        return;
      case 'permissions':
        this.permissions = sign.permissions;
        return;
      case 'turn_began':
        this.activity = 'busy';
        this.permissions = sign.permissions;
        this.model = sign.model;
        this.workingDir = sign.workingDir;
        return;
      case 'turn_over':
        this.costUsd = sign.costUsdSoFar ?? this.costUsd;
        return;
      case 'answer':
        this.#answers.set(sign.requestId, sign);
        return;
      default:
        takeTask(this.tasks, sign);
    }
  };
}

/** Absent where it cannot be told, which reading the file explains. */
function sizeOf(path: string): number | undefined {
  try {
    return statSync(path).size;
  } catch {
    return undefined;
  }
}

/** Keeps count of what goes on behind turns. */
export function takeTask(tasks: Set<string>, sign: StreamSign): void {
  if (sign.type === 'task_began') tasks.add(sign.taskId);
  if (sign.type === 'task_ended') tasks.delete(sign.taskId);
  if (sign.type !== 'tasks') return;
  tasks.clear();
  for (const taskId of sign.taskIds) tasks.add(taskId);
}

const states = new Map<string, { readonly process: string; readonly state: FrameState }>();

/** What the session's process has said: one reading for all who ask in this service. */
export async function readFrameState(
  way: StreamProcess,
  context: SessionContext,
  { pid, startTime }: FoundProcess,
): Promise<FrameState> {
  const process = `${pid}.${startTime}`;
  const known = states.get(context.filesDir);
  const state =
    known?.process === process ? known.state : new FrameState(way, streamFiles(context).output);
  if (known?.state !== state) states.set(context.filesDir, { process, state });
  try {
    await state.readOn();
  } catch (error) {
    // Output that cannot be read says nothing; the record still does.
    if (!(error instanceof StateUnusableError)) throw error;
    context.logger.warn({ err: error }, 'the output cannot be read');
  }
  return state;
}

/** Forgets the process of a session that was ended. */
export function forgetFrameState({ filesDir }: SessionContext): void {
  states.delete(filesDir);
}
