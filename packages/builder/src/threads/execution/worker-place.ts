import { type Clock, type Logger, runProcessForBytes, systemClock } from '@holdfast/agent';
import type { Sha256 } from '../coding-job.js';
import { CodingThreadError } from '../coding-thread-error.js';
import { endOrphans } from './end-orphans.js';
import { allowedEnvironment } from './worker-environment.js';
import { digestWorkerFile, findWorkerFile } from './worker-file.js';

/** How workers are started. */
export interface CodingWorkersOptions {
  /** Absolute path of the worker's program; the installed one when absent. */
  readonly workerFile?: string | undefined;
  readonly logger?: Logger | undefined;
  readonly clock?: Clock | undefined;
  /** How long a worker that was told to stop may take until it is ended; 15 s when absent. */
  readonly graceMs?: number | undefined;
  /** Further variables of each worker; for tests that make one fail. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
}

const GRACE_MS = 15_000;

/** Where workers are started from. */
export interface WorkerPlace {
  readonly file: string;
  readonly logger: Logger | undefined;
  readonly clock: Clock;
  readonly graceMs: number;
  readonly environment: Readonly<Record<string, string>>;
  /** What the program says that it can do; one that is another program than at first is `runner_unfit`. */
  readonly capabilityDigest: (adapterId: string) => Promise<Sha256>;
}

/** Reads the options; what stands at the worker's file now is what is started later. */
export function openWorkerPlace({
  workerFile = findWorkerFile(),
  logger,
  clock = systemClock,
  graceMs = GRACE_MS,
  environment = {},
}: CodingWorkersOptions): WorkerPlace {
  const admitted = digestWorkerFile(workerFile).catch(() => undefined);
  const known = new Map<string, Sha256>();
  let isTidied = false;
  const checkFile = async () => {
    const [first, now] = await Promise.all([
      admitted,
      digestWorkerFile(workerFile).catch(() => undefined),
    ]);
    if (now === undefined) throw unfit('its program cannot be read');
    if (first !== now) throw unfit('its program is another one than when this runner began');
  };
  return {
    file: workerFile,
    logger,
    clock,
    graceMs,
    environment,
    capabilityDigest: async (adapterId) => {
      // Beside the work: a thread that a hanging worker holds is refused as busy until then.
      if (!isTidied) void tidy(clock, logger);
      isTidied = true;
      await checkFile();
      const digest =
        known.get(adapterId) ?? (await askCapabilities({ workerFile, adapterId, environment }));
      known.set(adapterId, digest);
      return digest;
    },
  };
}

async function tidy(clock: Clock, logger: Logger | undefined): Promise<void> {
  try {
    const count = await endOrphans(clock);
    if (count > 0) logger?.warn({ count }, 'workers of dead hosts were ended');
  } catch (error) {
    logger?.error({ err: error }, 'workers of dead hosts could not be ended');
  }
}

async function askCapabilities({
  workerFile,
  adapterId,
  environment,
}: {
  readonly workerFile: string;
  readonly adapterId: string;
  readonly environment: Readonly<Record<string, string>>;
}): Promise<Sha256> {
  const { outcome, exitCode, stdout } = await runProcessForBytes({
    file: process.execPath,
    args: [workerFile, 'print-capabilities', adapterId],
    env: { ...allowedEnvironment(process.env), ...environment },
    workingDir: '/',
  });
  const text = new TextDecoder().decode(stdout).trim();
  if (outcome === 'exited' && exitCode === 0 && isDigest(text)) return text;
  throw unfit(`it does not say what it can do with ${JSON.stringify(adapterId.slice(0, 128))}`);
}

function isDigest(text: string): text is Sha256 {
  return /^sha256:[0-9a-f]{64}$/.test(text);
}

function unfit(why: string): CodingThreadError {
  return new CodingThreadError('runner_unfit', `The worker is not started: ${why}.`);
}
