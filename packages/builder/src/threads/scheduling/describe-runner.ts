import { isAbsolute } from 'node:path';
import { keys } from '../../persistence/keys.js';
import type { CodingRequest, Sha256 } from '../coding-job.js';
import type { CodingRunnerOptions } from '../coding-options.js';
import { CodingThreadError } from '../coding-thread-error.js';
import {
  type CodingAdapterContract,
  checkContractDigests,
  describeContract,
} from '../contract/adapter-contract.wire.js';
import { digestOfText, encodeCanonicalJson } from '../contract/canonical-json.js';
import { findMissingFeatures, listFeatures, requiredFeatures } from '../contract/features.js';
import { checkQualification } from '../contract/qualification.wire.js';
import type { CodingDesk } from './coding-desk.js';
import { findBinary, type KnownBinary } from './coding-job-record.wire.js';
import type { CodingRunner } from './coding-runner.js';
import { digestFile, findExecutable } from './find-executable.js';

/** What a runner is made of now. */
export interface RunnerDescription {
  readonly contract: CodingAdapterContract;
  /** Sorted. */
  readonly features: readonly string[];
  /** Absent where the CLI is not there: a thread whose end needs none can be closed all the same. */
  readonly binary?: string | undefined;
}

/** Looks what the runner is made of: its CLI to the byte, and what its worker says of itself. */
export async function describeRunner(
  desk: CodingDesk,
  runner: CodingRunner,
): Promise<RunnerDescription> {
  const { adapter, authenticationProfile, options } = runner;
  const { expected } = options;
  const own = await readCapabilityDigest(desk, runner);
  const { binary, ...known } = await describeBinary(desk, runner);
  const features = listFeatures({
    adapterId: adapter.adapterId,
    authenticationProfile,
    capabilityDigest: expected?.capabilityDigest ?? own,
    threadCapabilityDigest: own,
    hasPolicy: options.policy !== undefined,
    hasBubblewrap: findExecutable('bwrap', desk.options.bubblewrap) !== undefined,
  });
  const contract = describeContract({ adapter, capabilityDigest: own, ...known });
  return { contract, features, binary };
}

/** Lets a job pass that the runner can take; otherwise `runner_unfit`, which names what differs or is missing. */
export function checkRunnerFit(
  { options, runnerId, authenticationProfile }: CodingRunner,
  { contract, features }: RunnerDescription,
  coding: CodingRequest,
): void {
  checkContractDigests(contract, options.expected ?? {});
  checkQualified(options, contract);
  const required = requiredFeatures({ coding }, authenticationProfile, contract.requiredFeatures);
  const missing = findMissingFeatures(required, features);
  if (missing.length === 0) return;
  throw unfit(`The runner ${runnerId} lacks ${missing.join(', ')}.`, { evidence: { missing } });
}

/** In production an adapter is only what it was qualified for; what a runner names is looked at for local use too. */
function checkQualified(
  { qualification, use = 'local' }: CodingRunnerOptions,
  contract: CodingAdapterContract,
): void {
  if (qualification === undefined && use === 'local') return;
  checkQualification(qualification, { contract, use });
}

/** Compares what a runner is with what it was when a job was admitted: digests, never versions. */
export function checkSameContract(
  admitted: CodingAdapterContract,
  now: CodingAdapterContract,
): void {
  const [before, after] = [new Map(Object.entries(admitted)), new Map(Object.entries(now))];
  const differingFields = [...after.keys()].filter(
    (name) => encodeCanonicalJson(before.get(name)) !== encodeCanonicalJson(after.get(name)),
  );
  if (differingFields.length === 0) return;
  const what = differingFields.join(', ');
  throw unfit(`The runner has another ${what} than when this job was admitted.`, {
    differingFields,
  });
}

/** The refusal of a runner that cannot take a job. */
export function unfit(message: string, details: CodingThreadError['details']): CodingThreadError {
  return new CodingThreadError('runner_unfit', message, details);
}

async function readCapabilityDigest(
  { workers }: CodingDesk,
  { adapter, runnerId }: CodingRunner,
): Promise<Sha256> {
  const digest = await workers.capabilityDigest(adapter.adapterId);
  if (isSha256(digest)) return digest;
  throw unfit(`The worker of the runner ${runnerId} does not say what it can do.`, {
    evidence: { capabilityDigest: digest },
  });
}

/** A CLI that is gone is still the one that it was last. */
async function describeBinary(
  { store }: CodingDesk,
  { runnerId, options, binaryName }: CodingRunner,
): Promise<KnownBinaryPath> {
  const configured = options.cli?.binary;
  const key = keys.codingBinary(runnerId);
  const read = await store.read(key);
  const last = read.state === 'present' ? findBinary(read.value) : undefined;
  const binary = findExecutable(binaryName, configured);
  if (binary === undefined) {
    const executable = configured && isAbsolute(configured) ? configured : `/${binaryName}`;
    const binaryDigest = options.expected?.binaryDigest ?? digestOfText('');
    return toKnown(last ?? { executable, binaryDigest });
  }
  const now = { executable: binary, binaryDigest: await digestFile(binary) };
  const isSame = last?.executable === binary && last.binaryDigest === now.binaryDigest;
  if (!isSame) await store.write(key, now);
  return { ...now, binary };
}

interface KnownBinaryPath {
  readonly executable: string;
  readonly binaryDigest: Sha256;
  readonly binary?: string | undefined;
}

function toKnown({ executable, binaryDigest }: KnownBinary): KnownBinaryPath {
  if (isSha256(binaryDigest)) return { executable, binaryDigest };
  throw new Error('unreachable: a digest that was read is one');
}

function isSha256(text: string): text is Sha256 {
  return /^sha256:[0-9a-f]{64}$/.test(text);
}
