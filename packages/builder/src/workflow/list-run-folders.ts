import { isTurnError } from '@holdfast/agent';
import { checkName, type ExecutionKey } from '../executions/execution-key.js';
import { keys } from '../persistence/keys.js';
import type { Store, StoreKey } from '../persistence/store.js';

/** Something below a data directory that a walk cannot go on with. */
export interface StrayPlace {
  /** The path below the data directory. */
  readonly place: string;
  readonly reason: 'no_group' | 'no_run_folder' | 'unusable_name' | 'unreadable' | 'damaged';
  readonly why: string;
}

/** Where a step's files stand, or may stand. */
export interface RunFolders {
  readonly steps: readonly ExecutionKey[];
  /** Steps outside of `runs/{iteration}/{group}`, where the system before this one put them when it had no group or no run. */
  readonly outside: readonly OutsideStep[];
  readonly strays: readonly StrayPlace[];
}

/** A step that no execution id can name. */
export interface OutsideStep {
  readonly folder: StoreKey;
  readonly reason: 'no_group' | 'no_run_folder';
}

/** Every folder of a step, without reading what is in it. What cannot be listed is a stray, never empty. */
export async function listRunFolders(store: Store, signal?: AbortSignal): Promise<RunFolders> {
  const found = { steps: [], outside: [], strays: [] } satisfies Found;
  const walk: Walk = { store, found };
  for (const iteration of await listNamed(walk, keys.runs())) {
    signal?.throwIfAborted();
    await walkIteration(walk, iteration);
  }
  for (const step of await listNamed(walk, ['logs'])) {
    walk.found.outside.push({ folder: ['logs', step], reason: 'no_run_folder' });
  }
  return found;
}

interface Found {
  readonly steps: ExecutionKey[];
  readonly outside: OutsideStep[];
  readonly strays: StrayPlace[];
}

interface Walk {
  readonly store: Store;
  readonly found: Found;
}

async function walkIteration(walk: Walk, iteration: string): Promise<void> {
  const folder = keys.iteration(iteration);
  for (const group of await listNamed(walk, folder)) {
    const steps = await listNamed(walk, keys.steps({ iteration, group }));
    for (const step of steps) walk.found.steps.push({ iteration, group, step });
    if (group !== 'logs') continue;
    for (const step of await listNamed(walk, [...folder, 'logs'])) {
      walk.found.outside.push({ folder: [...folder, 'logs', step], reason: 'no_group' });
    }
  }
}

/** The names below a folder that can be part of an id; the others are strays. */
async function listNamed({ store, found }: Walk, prefix: StoreKey): Promise<readonly string[]> {
  const names = await listFolder({ store, found }, prefix);
  return names.filter((name) => {
    if (isName(name)) return true;
    const place = [...prefix, name].join('/');
    const why = 'its name can be no part of an execution id; give it another one';
    found.strays.push({ place, reason: 'unusable_name', why });
    return false;
  });
}

async function listFolder({ store, found }: Walk, prefix: StoreKey): Promise<readonly string[]> {
  try {
    return await store.list(prefix);
  } catch (error) {
    if (!isTurnError(error) || error.kind !== 'state_unusable') throw error;
    // A file that stands beside the folders is none of them.
    if (!isNoFolder(error)) {
      found.strays.push({ place: prefix.join('/'), reason: 'unreadable', why: error.message });
    }
    return [];
  }
}

/** Whether a place could not be read since something on the way to it is a file: nothing of ours stands there. */
export function isNoFolder({ cause }: Error): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'ENOTDIR';
}

function isName(name: string): boolean {
  try {
    return checkName(name) === name;
  } catch {
    return false;
  }
}
