import { type Clock, type Lease, StateUnusableError } from '@holdfast/agent';
import { keys } from '../../persistence/keys.js';
import type { JsonValue, Store } from '../../persistence/store.js';
import { digestOfJson } from '../contract/canonical-json.js';
import { mintUuidV7 } from '../contract/uuid.js';
import type { CodingStage, RunStage } from './coding-stage.js';
import { storeStageArtifact } from './stage-artifacts.js';
import { CodingStageError } from './stage-error.js';
import { STAGE_SEATS, type StageRecord } from './stage-record.js';
import { decodeStageRecord, encodeStageRecord } from './stage-record.wire.js';

/** Where the records of stages stand. */
export interface StageFiles {
  readonly store: Store;
  readonly clock: Clock;
}

/** How often a stage that another runs is looked for. */
const LOOK_MS = 250;

/** Waits until nobody else runs the stage. */
export async function takeStage(
  { store, clock }: StageFiles,
  key: string,
  signal: AbortSignal | undefined,
): Promise<Lease> {
  for (;;) {
    const { lease } = await store.acquire(keys.codingStageLease(key));
    if (lease) return lease;
    await clock.sleep(LOOK_MS, signal);
  }
}

/** Reads the record, or begins one: with every reference, before anything is dispatched. */
export async function openStage(
  files: StageFiles,
  { key, stage, owner }: Pick<RunStage, 'key' | 'stage' | 'owner'>,
  lease: Lease,
): Promise<StageRecord> {
  const { store } = files;
  const content = { stage: asJson(stage), owner };
  const stageDigest = digestOfJson(content);
  const found = await store.read(keys.codingStage(key));
  if (found.state === 'absent') {
    await storeStageArtifact(store, 'stage', content);
    const record = firstRecord(files, { stage, owner, stageDigest });
    await writeStage(files, { key, record, lease });
    return record;
  }
  const record = found.state === 'present' ? decodeStageRecord(found.value) : undefined;
  if (!record) {
    const place = keys.codingStage(key).join('/');
    throw new StateUnusableError(place, 'damaged', 'it is no record of a stage; restore it.');
  }
  if (record.stageDigest === stageDigest) return record;
  const why = `the key ${key} was begun with another stage, or for another owner.`;
  const { stageId, remediations: round } = record;
  throw new CodingStageError('stage_conflict', why, { stageId, round });
}

/** Writes the record in one step, while the stage is still ours. */
export async function writeStage(
  { store }: StageFiles,
  {
    key,
    record,
    lease,
  }: { readonly key: string; readonly record: StageRecord; readonly lease: Lease },
): Promise<void> {
  await store.write(keys.codingStage(key), encodeStageRecord(record), { lease });
}

function firstRecord(
  { clock }: StageFiles,
  {
    stage,
    owner,
    stageDigest,
  }: Pick<RunStage, 'stage' | 'owner'> & Pick<StageRecord, 'stageDigest'>,
): StageRecord {
  const seats = STAGE_SEATS.filter((seat) => stage[seat]);
  return {
    ...{ stageId: stage.stageId, stageDigest, owner },
    seats: Object.fromEntries(seats.map((seat) => [seat, { sessionRef: mintUuidV7(clock) }])),
    ...{ lost: [], unacknowledged: [], patches: [], reviews: [], ledger: [] },
    ...{ remediations: 0, replacements: 0, stalls: 0 },
  };
}

function asJson(stage: CodingStage): JsonValue {
  return JSON.parse(JSON.stringify(stage));
}
