import { chmod, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The folders of one case; nothing of the person who runs it is in them. */
export interface Place {
  readonly root: string;
  /** `HOME` of everything that is started. */
  readonly home: string;
  readonly workingDir: string;
  /** provider-core's state directory. */
  readonly stateDir: string;
  /** Where the model writes its log. */
  readonly modelLog: string;
  /** A fresh folder inside the place. */
  readonly createFolder: (name: string) => Promise<string>;
  readonly remove: () => Promise<void>;
}

/** Makes the folders of one case, with a short path: sockets live below it. */
export async function createPlace(): Promise<Place> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'hf-')));
  const createFolder = async (name: string) => {
    const folder = join(root, name);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return folder;
  };
  return {
    root,
    home: await createFolder('home'),
    workingDir: await createFolder('work'),
    stateDir: join(root, 'state'),
    modelLog: join(root, 'model.jsonl'),
    createFolder: (name) => createFolder(`${name}-${crypto.randomUUID().slice(0, 8)}`),
    remove: () => removeAll(root),
  };
}

async function removeAll(root: string): Promise<void> {
  await chmod(root, 0o700).catch(() => {});
  // A CLI that was just killed may still have a file half written by its last child.
  await rm(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}
