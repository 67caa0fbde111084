import { findCodingAdapter, systemClock } from '@holdfast/agent';
import { createFileStore } from './persistence/file-store.js';
import type { CodingOutcome } from './threads/coding-job.js';
import {
  describeCapabilities,
  digestCapabilities,
  type WorkerCapabilities,
} from './threads/contract/capabilities.wire.js';
import { flushOutput } from './threads/execution/flush-output.js';
import { type ServedJob, serveWorker } from './threads/execution/serve-worker.js';
import { secretsOf } from './threads/execution/worker-environment.js';
import {
  endWorkerProcesses,
  isMarkOf,
  MARKER_VARIABLE,
} from './threads/execution/worker-marker.js';
import { runCodingJob } from './threads/worker/run-coding-job.js';

process.exitCode = await main(process.argv.slice(2));
// Nothing is waited for any more: whoever started us may keep our input open.
process.exit();

/** One job of one adapter, told on standard input; or what could be done with it. */
async function main([command, adapterId = '']: readonly string[]): Promise<number> {
  const adapter = findCodingAdapter(adapterId)?.adapter;
  const capabilities = adapter && describeCapabilities(adapter);
  if (capabilities && command === 'serve') await serve(capabilities);
  else if (capabilities && command === 'print-capabilities') await printCapabilities(capabilities);
  else {
    process.stderr.write('usage: coding-worker <serve|print-capabilities> <adapter id>\n');
    return 2;
  }
  return 0;
}

async function printCapabilities(capabilities: WorkerCapabilities): Promise<void> {
  await new Promise<void>((resolve) => {
    process.stdout.write(`${digestCapabilities(capabilities)}\n`, () => resolve());
  });
}

async function serve(capabilities: WorkerCapabilities): Promise<void> {
  const mark = process.env[MARKER_VARIABLE] ?? '';
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => stop.abort());
  }
  // Without a reader there is nobody to tell; the end of our input says so too.
  process.stdout.on('error', () => stop.abort());
  try {
    await serveWorker({
      input: process.stdin,
      write: (text) => void process.stdout.write(text),
      capabilities,
      isOurRunner: (nonce) => isMarkOf(mark, nonce),
      run: runJob,
      secretsOf: (spec) => secretsOf(spec, process.env),
      stop: stop.signal,
    });
  } finally {
    if (mark !== '') await endWorkerProcesses({ mark }, { graceMs: 1_000, clock: systemClock });
    await flushOutput(process.stdout, systemClock);
  }
}

async function runJob({ spec, ...job }: ServedJob): Promise<CodingOutcome> {
  await using store = createFileStore({ dataDir: spec.dataDir });
  return await runCodingJob({ ...job, spec, store });
}
