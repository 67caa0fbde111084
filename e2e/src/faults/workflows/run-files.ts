import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HandleJson } from '@holdfast/provider-core/certification';

/** One phase as it stands in `continuation_state.json`. */
export interface PhaseOnDisk {
  readonly status: string;
  readonly agent_session_handle?: HandleJson;
  readonly turns?: readonly { readonly message: string; readonly kind: string }[];
}

/** One execution as its files show it. */
export interface ExecutionOnDisk {
  readonly execution_id: string;
  readonly step_id: string;
  readonly outcome: string;
  readonly agent_session_handle?: HandleJson;
  readonly phases: Readonly<Record<string, PhaseOnDisk>>;
  readonly events: readonly { readonly type: string; readonly phase?: string }[];
}

/** One entry of the outbox. */
export interface NotificationOnDisk {
  readonly notification_id: string;
  readonly execution_id: string;
  readonly outcome: string;
  readonly text: string;
  readonly session: { readonly state: string };
  readonly handler: { readonly state: string };
}

/** Every execution below the run's folder, sub-agents included. */
export async function readExecutions(dataDir: string): Promise<readonly ExecutionOnDisk[]> {
  const logs = join(dataDir, 'runs', '1', 'main', 'logs');
  const steps = await readdir(logs).catch(() => []);
  const found = await Promise.all(
    steps.map(async (step) => {
      const text = await readIfThere(join(logs, step, 'continuation_state.json'));
      if (text === undefined) return undefined;
      const events = await readLines(join(logs, step, 'events.jsonl'));
      return { ...JSON.parse(text), events };
    }),
  );
  return found.filter((one) => one !== undefined);
}

/** Every entry of the outbox. */
export async function readNotifications(dataDir: string): Promise<readonly NotificationOnDisk[]> {
  const folder = join(dataDir, 'notifications');
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.json'));
  return await Promise.all(
    names.map(async (name) => JSON.parse(await readFile(join(folder, name), 'utf8'))),
  );
}

/** The jobs that are open, by queue and id. */
export async function listOpenJobs(dataDir: string): Promise<readonly string[]> {
  const queues = await readdir(join(dataDir, 'engine')).catch(() => []);
  const jobs = await Promise.all(
    queues.map(async (queue) => {
      const names = await readdir(join(dataDir, 'engine', queue, 'jobs')).catch(() => []);
      return names.filter((name) => !name.startsWith('.')).map((name) => `${queue}/${name}`);
    }),
  );
  return jobs.flat();
}

/** The whole lines of a file of JSON; half a line that a kill left is none. */
export async function readLines(path: string) {
  const text = (await readIfThere(path)) ?? '';
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
}

async function readIfThere(path: string): Promise<string | undefined> {
  return await readFile(path, 'utf8').catch(() => undefined);
}
