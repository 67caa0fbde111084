import { isoInstant, type Lease, StateUnusableError, waitUntil } from '@holdfast/agent';
import { mapAtMost } from '../../engine/at-most.js';
import { keys } from '../../persistence/keys.js';
import type { StoreKey } from '../../persistence/store.js';
import { CodingThreadError } from '../coding-thread-error.js';
import type { CodingWorkerSpec } from '../worker/worker-spec.js';
import type { CodingDesk } from './coding-desk.js';
import type { CodingJobRecord } from './coding-job-record.js';
import {
  decodeCodingJobRecord,
  decodeSpec,
  digestSpec,
  encodeCodingJob,
  encodeSpec,
} from './coding-job-record.wire.js';

const READ_AT_ONCE = 16;
const LEASE_WAIT_MS = 30_000;

/** Reads a job; one that is damaged or was edited is a `StateUnusableError`, and stays as it is. */
export async function readCodingJob(
  { store }: Pick<CodingDesk, 'store'>,
  jobId: string,
): Promise<CodingJobRecord | undefined> {
  const key = keys.codingJob(jobId);
  const found = await store.read(key);
  if (found.state === 'absent') return undefined;
  const record = found.state === 'present' ? decodeCodingJobRecord(found.value, jobId) : undefined;
  if (record) return record;
  throw new StateUnusableError(key.join('/'), 'damaged', 'it is no coding job.');
}

/** Writes a job that is not there yet; false where one is. */
export async function createCodingJob(
  { store }: CodingDesk,
  record: CodingJobRecord,
): Promise<boolean> {
  return await store.write(keys.codingJob(record.jobId), encodeCodingJob(record), {
    mode: 'create',
  });
}

/** Writes a job under its lease. */
export async function writeCodingJob(
  { store }: CodingDesk,
  record: CodingJobRecord,
  lease: Lease,
): Promise<void> {
  await store.write(keys.codingJob(record.jobId), encodeCodingJob(record), { lease });
}

/** Reads many; those that cannot be used are told to the log and left out. */
export async function readCodingJobs(
  desk: CodingDesk,
  jobIds: readonly string[],
): Promise<readonly CodingJobRecord[]> {
  const read = await mapAtMost(READ_AT_ONCE, jobIds, async (jobId) => {
    try {
      return await readCodingJob(desk, jobId);
    } catch (error) {
      desk.logger?.warn({ job_id: jobId, err: error }, 'coding job cannot be read');
      return undefined;
    }
  });
  return read.filter((one) => one !== undefined);
}

/** The ids of all jobs, or of a runner's open ones. */
export async function listJobIds(
  { store }: CodingDesk,
  prefix: StoreKey = keys.codingJobs(),
): Promise<readonly string[]> {
  const names = await store.list(prefix);
  return names.map((name) => name.replace(/\.json$/, ''));
}

/** Keeps what a job was admitted with. */
export async function writeSpec(
  { store }: CodingDesk,
  jobId: string,
  spec: CodingWorkerSpec,
): Promise<void> {
  await store.write(keys.codingSpec(jobId), encodeSpec(spec));
}

/** What a job was admitted with; any other spec than that is `invalid_job`. */
export async function readSpec(
  { store }: CodingDesk,
  { jobId, specDigest }: CodingJobRecord,
): Promise<CodingWorkerSpec> {
  const found = await store.read(keys.codingSpec(jobId));
  const spec = found.state === 'present' ? decodeSpec(found.value, { specDigest }) : undefined;
  if (spec && digestSpec(spec) === specDigest) return spec;
  throw new CodingThreadError(
    'invalid_job',
    'What this job was admitted with does not stand as it was written; it is not run.',
    { evidence: { specDigest, found: found.state } },
  );
}

/** Tells those who wait for a job. */
export async function tellOfJob(
  { store, clock }: CodingDesk,
  jobId: string,
  note: { readonly type: 'ended' } | { readonly type: 'cancelled'; readonly reason: string },
): Promise<void> {
  await store.append(keys.codingLog(jobId), { ...note, at: isoInstant(clock) });
}

/** Takes a lease that others hold for moments alone. */
export async function waitForLease({ store, clock }: CodingDesk, key: StoreKey): Promise<Lease> {
  return await waitUntil(async () => (await store.acquire(key)).lease, {
    awaiting: `the lease ${key.join('/')}`,
    deadlineMs: LEASE_WAIT_MS,
    layer: 'builder',
    clock,
  });
}
