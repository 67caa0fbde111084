import type { ThreadReceipt } from '../coding-job.js';
import { encodeCanonicalJson } from './canonical-json.js';
import { findReceipt } from './thread-directive.wire.js';

const MAX_DEPTH = 5;
const MAX_TEXT = 4 * 1024 * 1024;
/** What schedulers call their own ids: none of them is a checkpoint. */
const SCHEDULING_IDS = [
  'request_id',
  'requestId',
  'executionId',
  'execution_id',
  'jobId',
  'job_id',
];

/**
 * Finds the receipt in a job's result: in our envelope, in the `codingThread` or `worker.codingThread` of the older one, and
 * in what wraps either, also as JSON text. `undefined` where none is proven, and where two differ.
 */
export function extractReceipt(value: unknown): ThreadReceipt | undefined {
  const found = { receipts: new Map<string, ThreadReceipt>(), schedulingIds: new Set<unknown>() };
  collect(value, found, 0);
  const [receipt, ...others] = found.receipts.values();
  if (!receipt || others.length > 0) return undefined;
  return found.schedulingIds.has(receipt.checkpoint) ? undefined : receipt;
}

interface Found {
  readonly receipts: Map<string, ThreadReceipt>;
  readonly schedulingIds: Set<unknown>;
}

function collect(value: unknown, found: Found, depth: number): void {
  const object = openObject(value);
  if (!object || depth > MAX_DEPTH) return;
  for (const name of SCHEDULING_IDS)
    if (object[name] !== undefined) found.schedulingIds.add(object[name]);
  for (const name of ['thread', 'codingThread']) {
    const receipt = findReceipt(object[name]);
    if (receipt) found.receipts.set(encodeCanonicalJson({ ...receipt }), receipt);
  }
  for (const name of ['worker', 'result', 'structuredOutput', 'public_output']) {
    collect(object[name], found, depth + 1);
  }
}

function openObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const opened = typeof value === 'string' ? parse(value) : value;
  return isObject(opened) ? opened : undefined;
}

function parse(text: string): unknown {
  if (text.length > MAX_TEXT) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
