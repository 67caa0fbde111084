import { createInterface } from 'node:readline';
import { installWriteFailures } from './harness/fail-writes.js';
import { installFaults } from './harness/install-faults.js';
import { plantFault } from './harness/worker/plant-fault.js';
import { runInAgent } from './harness/worker/run-in-agent.js';
import { runInProviderCore } from './harness/worker/run-in-provider-core.js';
import { plantInReports, reportLine, type WorkerCommand } from './harness/worker/worker-command.js';

/** A service that runs one call and ends: a command on stdin, what happens as JSON lines on stdout. */
const layers = { 'provider-core': runInProviderCore, agent: runInAgent };

installFaults();
installWriteFailures();
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const { value } = await lines.next();
const command: WorkerCommand = JSON.parse(value);
const interrupts = new AbortController();
void listenForInterrupt();

try {
  plantInReports(command.plant);
  const planted = { ...command, action: await plantFault(command) };
  await layers[command.layer](planted, interrupts.signal);
} catch (error) {
  reportLine({ type: 'error', error: describe(error) });
}
process.exit(0);

async function listenForInterrupt(): Promise<void> {
  const { value: next } = await lines.next();
  if (next === 'interrupt') interrupts.abort();
}

function describe(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  if ('toJSON' in error && typeof error.toJSON === 'function') return error.toJSON();
  return { name: error.name, message: error.message, stack: error.stack };
}
