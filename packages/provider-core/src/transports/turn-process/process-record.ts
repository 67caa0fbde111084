import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { readJsonFile, writeFileAtomic } from '../../state/atomic-write.js';
import {
  observeProcess,
  ownIdentity,
  type ProcessState,
  readProcessStatus,
} from '../../state/process-identity.js';
import {
  type FoundProcess,
  findProcessesByEnvironment,
  listProcessTree,
} from '../../state/process-tree.js';
import { NONCE_VARIABLE } from '../served-pane/server-process.js';
import type { SessionContext } from '../session-transport.js';
import { type ProcessRecord, processRecordCodec } from './process-record.wire.js';

/** The variable by which one turn's process, and all it started, is found again. */
export const LAUNCH_VARIABLE = 'HOLDFAST_LAUNCH';

/** Paths inside a session's folder. */
export const turnFiles = (filesDir: string) => ({
  record: join(filesDir, 'turn-process.json'),
  message: join(filesDir, 'turn-message.txt'),
  output: join(filesDir, 'turn-output.jsonl'),
  errors: join(filesDir, 'turn-errors.txt'),
  image: (index: number, extension: string) => join(filesDir, `turn-image-${index}.${extension}`),
});

const IMAGE = /^turn-image-\d+\./;

/** The record of the turn whose process was started last and was not seen to have ended well. */
export async function readProcessRecord(filesDir: string): Promise<ProcessRecord | undefined> {
  const file = await readJsonFile(turnFiles(filesDir).record);
  return file.state === 'present' ? processRecordCodec.safeParse(file.value).data : undefined;
}

/** Writes the record down. A power cut ends the process too, and the record names its boot. */
export async function saveProcessRecord(filesDir: string, record: ProcessRecord): Promise<void> {
  const content = `${JSON.stringify(z.encode(processRecordCodec, record))}\n`;
  await writeFileAtomic(turnFiles(filesDir).record, content, { durable: false });
}

/** Takes record, message and images of a turn that is over away. Its output stays until the next one. */
export async function removeProcessRecord(filesDir: string): Promise<void> {
  const { record, message } = turnFiles(filesDir);
  await rm(record, { force: true });
  await rm(message, { force: true });
  for (const name of await readdir(filesDir)) {
    if (IMAGE.test(name)) await rm(join(filesDir, name), { force: true });
  }
}

/** Whether the turn's process lives. One that was never seen to start is judged by what carries its launch id. */
export function observeTurnProcess({ process, launchId }: ProcessRecord): ProcessState {
  if (process) return observeProcess(process);
  return findProcessesByEnvironment(LAUNCH_VARIABLE, launchId).length > 0 ? 'alive' : 'dead';
}

/** The turn's process and all that it started, also what was reparented: its servers carry the session's nonce alone. */
export function listTurnProcesses(
  { process }: ProcessRecord,
  { nonce }: Pick<SessionContext, 'nonce'>,
): FoundProcess[] {
  const marked = findProcessesByEnvironment(NONCE_VARIABLE, nonce);
  const isHere = process !== undefined && observeProcess(process) === 'alive';
  const tree = isHere ? listProcessTree(process.pid) : [];
  const known = new Set(marked.map(({ pid }) => pid));
  return [...marked, ...tree.filter(({ pid }) => !known.has(pid))];
}

/** The CLI itself: of what carries the launch id, the one that none of the others started. */
export function findTurnLeader(record: ProcessRecord): number | undefined {
  if (record.process) return record.process.pid;
  const marked = findProcessesByEnvironment(LAUNCH_VARIABLE, record.launchId);
  const pids = new Set(marked.map(({ pid }) => pid));
  return marked.find(({ pid }) => !pids.has(readProcessStatus(pid)?.parentPid ?? 0))?.pid;
}

/** The identity of a process that was just started here. */
export function identityOf(pid: number, startTime: string | undefined): ProcessRecord['process'] {
  return { ...ownIdentity(), pid, startTime: startTime ?? '' };
}
