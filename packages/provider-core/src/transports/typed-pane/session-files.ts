import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { RegistryEntry, TypedPane } from '../../spec/typed-pane.js';
import { observePid } from '../../state/process-identity.js';
import { findProcessesByEnvironment } from '../../state/process-tree.js';
import { isAbsentError, readError } from '../../state/state-error.js';
import type { SessionContext } from '../session-transport.js';

/** Where a CLI keeps its records and the list of its processes, however it is driven. */
export interface CliFiles extends Pick<TypedPane, 'readRegistry'> {
  readonly files: Pick<TypedPane['files'], 'record' | 'registryFolder'>;
}

/** The variable by which every process of a session is found again. */
const NONCE_VARIABLE = 'HOLDFAST_NONCE';

const LOCATE_MS = 40;

/** The native id, which a typed-pane provider is always given before its first launch. */
export function nativeIdOf({ nativeSessionId }: SessionContext): string {
  if (nativeSessionId === undefined)
    throw new Error('unreachable: the id is made before the start');
  return nativeSessionId;
}

/** Path of the hooks' spool. */
export function spoolPath(way: TypedPane, { filesDir }: SessionContext): string {
  return join(filesDir, way.files.spool);
}

/** Every file that could be the session's record; more than one when somebody copied it. */
export async function findRecords(way: CliFiles, context: SessionContext): Promise<string[]> {
  const [folder = '', name = ''] = way.files.record(nativeIdOf(context)).split('/*/');
  const root = join(context.cliHome, folder);
  const paths: string[] = [];
  for (const entry of listFolder(root)) {
    const path = join(root, entry, name);
    if (isFile(path)) paths.push(path);
  }
  return paths;
}

/** The session's record, once it is there: the CLI makes it with the first message. */
export async function locateRecord(
  way: TypedPane,
  context: SessionContext,
  signal: AbortSignal,
): Promise<string | undefined> {
  while (!signal.aborted) {
    const [path] = await findRecords(way, context);
    if (path !== undefined) return path;
    await context.clock.sleep(LOCATE_MS, signal).catch(() => undefined);
  }
  return undefined;
}

function listFolder(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if (isAbsentError(error)) return [];
    throw readError(path, error);
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch (error) {
    if (isAbsentError(error)) return false;
    throw readError(path, error);
  }
}

/** A living process that the CLI's registry names for the session. */
export interface RegisteredProcess extends RegistryEntry {
  readonly pid: number;
}

/** The living processes that the registry names, of this session or of all. */
export async function listRegistered(
  way: CliFiles,
  context: SessionContext,
): Promise<readonly RegisteredProcess[]> {
  const folder = join(context.cliHome, way.files.registryFolder);
  const pids = listFolder(folder).flatMap((name) => /^(\d+)\.json$/.exec(name)?.[1] ?? []);
  const found = await Promise.all(pids.map((pid) => readRegistered(way, context, Number(pid))));
  return found.flatMap((entry) => entry ?? []);
}

/** What the registry says of one process; nothing when it names none, or one that has ended. */
export async function readRegistered(
  way: CliFiles,
  { cliHome }: SessionContext,
  pid: number,
): Promise<RegisteredProcess | undefined> {
  const path = join(cliHome, way.files.registryFolder, `${pid}.json`);
  const entry = way.readRegistry(readJson(path));
  if (!entry) return undefined;
  // A process that was killed leaves its file behind, and its pid is used again.
  const isOver = entry.startTime !== undefined && observePid(pid, entry.startTime) === 'dead';
  return isOver ? undefined : { ...entry, pid };
}

/** A file that is just being written reads as nothing; the next look sees it. */
function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** The processes of the session: the CLI, its tools, and what they left behind; or those of them among `pids`. */
export function listOwnProcesses({ nonce }: SessionContext, pids?: readonly number[]) {
  return findProcessesByEnvironment(NONCE_VARIABLE, nonce, pids);
}
