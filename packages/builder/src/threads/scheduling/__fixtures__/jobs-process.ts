import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buildProgram } from '../../../persistence/__fixtures__/build-program.js';

/** Runs coding jobs; its workers note in a file when they begin and end, and some wait to be cancelled. */
const program = `
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createFileStore } from '#src/persistence/file-store.ts';
import { createJobEngine } from '#src/engine/file-job-engine.ts';
import { createCodingJobs } from '#src/threads/scheduling/create-coding-jobs.ts';
const [dataDir, runsFile, options, ...requests] = process.argv.slice(2);
const say = (line) => process.stdout.write(line + '\\n');
const note = (line) => appendFileSync(runsFile, line + '\\n');
const workers = {
  capabilityDigest: async () => 'sha256:' + 'b'.repeat(64),
  run: async ({ spec: { operationId }, signal }) => {
    note('begin ' + operationId);
    say('running ' + operationId);
    if (operationId.startsWith('long')) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      note('end ' + operationId);
      return { class: 'cancelled', reason: String(signal.reason) };
    }
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    note('end ' + operationId);
    return { class: 'success', outcome: { outcome: 'no-change', operationId, evidence: {} } };
  },
};
const store = createFileStore({ dataDir });
const engine = createJobEngine(store, { pollMs: 20 });
const jobs = createCodingJobs({ store, engine, workers, dataDir, options: JSON.parse(options) });
await jobs.recover();
await engine.start();
say('ready');
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
await lines.next();
const submitted = await Promise.all(requests.map((one) => jobs.submit(JSON.parse(one))));
const ends = await Promise.all(submitted.map((job) => job.result().then(() => 'ok', (error) => error.kind)));
say('ended ' + ends.join(' '));
await lines.next();
await engine.stop();
process.exit();
`;

/** A process that runs coding jobs. */
export interface JobsProcess {
  /** What it says next. */
  readonly hear: () => Promise<string>;
  readonly tell: () => void;
  readonly kill: () => Promise<void>;
}

/** How such a process is made. */
export interface JobsProcessOptions {
  readonly dataDir: string;
  readonly runsFile: string;
  readonly options: unknown;
  readonly requests: readonly unknown[];
}

/** Real processes: they run a bundle, since Node 20 runs no TypeScript. */
export interface JobsProcesses extends AsyncDisposable {
  readonly spawn: (options: JobsProcessOptions) => JobsProcess;
}

/** Builds the bundle once; disposing of it kills what still runs. */
export async function createJobsProcesses(): Promise<JobsProcesses> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-'));
  const file = await buildProgram(folder, 'jobs', program);
  const living = new Set<ChildProcess>();
  const kill = async (child: ChildProcess) => {
    if (!living.delete(child)) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return {
    spawn: ({ dataDir, runsFile, options, requests }) => {
      const args = [file, dataDir, runsFile, ...[options, ...requests].map((one) => JSON.stringify(one))];
      const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'], env: {} });
      living.add(child);
      child.once('exit', () => living.delete(child));
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      return {
        hear: async () => String((await lines.next()).value),
        tell: () => void child.stdin.write('go\n'),
        kill: () => kill(child),
      };
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...living].map(kill));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
