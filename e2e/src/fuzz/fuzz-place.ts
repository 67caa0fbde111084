import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ModelRequest } from '@holdfast/provider-core/certification';
import { startModelLifetime } from '../harness/model-lifetime.js';
import { createPlace } from '../harness/place.js';
import { RealSubject } from '../harness/real-subject.js';
import type { FuzzCell } from './fuzz-cell.js';
import { type FuzzProcess, startFuzzProcess } from './fuzz-process.js';

const NOTES = 'notes that nobody sent';

/** Where one cell's texts go in and come out. */
export interface FuzzPlace extends AsyncDisposable {
  readonly service: FuzzProcess;
  /** Every request of the conversation itself, oldest first. */
  readonly requests: () => readonly ModelRequest[];
  /** What should not be in the working directory, or is no more as it was. */
  readonly findTouchedFiles: () => Promise<readonly string[]>;
  /** What no request may hold: the content of a file that a text only names. */
  readonly secret: string;
}

/** A home, a model and a service for one cell; disposing fails when anything is left running. */
export async function createFuzzPlace(cell: FuzzCell): Promise<FuzzPlace> {
  return cell.cli === undefined ? createModelPlace(cell) : createCliPlace(cell, cell.cli);
}

async function createCliPlace(
  { way }: FuzzCell,
  cli: NonNullable<FuzzCell['cli']>,
): Promise<FuzzPlace> {
  const subject = await RealSubject.create({ cli, layer: 'agent' });
  const { home, stateDir, workingDir } = subject.place;
  const service = startFuzzProcess({
    home,
    agent: {
      ...subject.config(),
      stateDir,
      transport: way === 'tmux' ? 'tmux' : 'structured',
      ...(way === 'per_turn' ? { processLifetime: 'turn' } : {}),
    },
  });
  await leaveNotes(workingDir);
  return {
    service,
    requests: subject.modelRequests,
    findTouchedFiles: () => findTouchedFiles(workingDir),
    secret: NOTES,
    [Symbol.asyncDispose]: async () => {
      await service.close();
      await subject[Symbol.asyncDispose]();
    },
  };
}

async function createModelPlace({ provider }: FuzzCell): Promise<FuzzPlace> {
  const place = await createPlace();
  const lifetime = await startModelLifetime();
  const { home, stateDir, workingDir } = place;
  const version = provider === 'google' ? 'v1beta' : 'v1';
  const service = startFuzzProcess({
    home,
    agent: {
      provider,
      model: 'scripted',
      apiKey: 'loopback-key',
      baseUrl: `${lifetime.baseUrl}/${version}`,
      workingDir,
      stateDir,
    },
  });
  await leaveNotes(workingDir);
  return {
    service,
    requests: lifetime.requests,
    findTouchedFiles: () => findTouchedFiles(workingDir),
    secret: NOTES,
    [Symbol.asyncDispose]: async () => {
      await service.close();
      await lifetime.stop();
      await place.remove();
    },
  };
}

async function leaveNotes(workingDir: string): Promise<void> {
  await writeFile(join(workingDir, 'notes.txt'), NOTES);
}

async function findTouchedFiles(workingDir: string): Promise<readonly string[]> {
  const names = await readdir(workingDir);
  const notes = await readFile(join(workingDir, 'notes.txt'), 'utf8').catch(() => '');
  return [
    ...names.filter((name) => name !== 'notes.txt'),
    ...(notes === NOTES ? [] : ['notes.txt']),
  ];
}
