import { createInterface } from 'node:readline';
import { installWriteFailures } from './harness/fail-writes.js';
import { installFaults } from './harness/install-faults.js';
import { plantFault } from './harness/worker/plant-fault.js';
import { runInAgent } from './harness/worker/run-in-agent.js';
import { runInProviderCore } from './harness/worker/run-in-provider-core.js';
import {
  type OrderTarget,
  plantInReports,
  reportLine,
  type WorkerCommand,
  type WorkerOrder,
} from './harness/worker/worker-command.js';

/** A service that runs one call and ends: a command on stdin, what happens as JSON lines on stdout. */
const layers = { 'provider-core': runInProviderCore, agent: runInAgent };

installFaults();
installWriteFailures();
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const { value } = await lines.next();
const command: WorkerCommand = JSON.parse(value);
const interrupts = new AbortController();
let steer: Parameters<OrderTarget['onSteer']>[0] | undefined;
let steering: Promise<void> | undefined;
void obeyOrders();

try {
  plantInReports(command.plant);
  await layers[command.layer](await plantFault(command), {
    interrupted: interrupts.signal,
    onSteer: (next) => {
      steer = next;
    },
  });
} catch (error) {
  reportLine({ type: 'error', error: describe(error) });
}
// What became of a text may be known only after the turn.
await steering;
process.exit(0);

async function obeyOrders(): Promise<void> {
  for (;;) {
    const { value: line, done } = await lines.next();
    if (done) return;
    const order: WorkerOrder = JSON.parse(line);
    if (order.order === 'interrupt' && command.plant !== 'ignores_interrupts') interrupts.abort();
    if (order.order === 'steer') steering = steerTurn(order.text);
  }
}

async function steerTurn(text: string): Promise<void> {
  const result = await steer?.(text).catch((error: unknown) => ({
    outcome: 'unknown' as const,
    detail: `steer was rejected: ${String(error)}`,
  }));
  if (result) reportLine({ type: 'steered', result });
}

function describe(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  if ('toJSON' in error && typeof error.toJSON === 'function') return error.toJSON();
  return { name: error.name, message: error.message, stack: error.stack };
}
