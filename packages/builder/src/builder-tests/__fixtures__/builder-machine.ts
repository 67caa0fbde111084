import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemorySessions } from '../../__fixtures__/memory-sessions.js';
import type { BuilderOptions } from '../../builder-options.js';
import { type Builder, createBuilder } from '../../create-builder.js';
import type { Notification } from '../../notifications/notification.js';

/** What outlives every builder of a test: the disk, and what the model was told. */
export interface BuilderMachine {
  readonly dir: string;
  readonly dataDir: string;
  readonly sessions: MemorySessions;
  readonly told: Notification[];
  /** One builder on the machine's data directory. */
  readonly build: (options?: Partial<BuilderOptions>) => Promise<Builder>;
  readonly dispose: () => Promise<void>;
}

export async function createBuilderMachine(): Promise<BuilderMachine> {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-builder-'));
  const dataDir = join(dir, 'data');
  const sessions = new MemorySessions();
  const told: Notification[] = [];
  const coder = {
    provider: 'claude-code',
    workingDir: dir,
    stateDir: join(dir, 'state'),
    sessions,
  } as const;
  return {
    dir,
    dataDir,
    sessions,
    told,
    build: (options = {}) =>
      createBuilder({
        dataDir,
        agents: { coder },
        onNotification: (notification) => void told.push(notification),
        ...options,
      }),
    dispose: () => rm(dir, { recursive: true, force: true }),
  };
}
