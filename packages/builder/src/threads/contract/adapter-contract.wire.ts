import type { CodingAdapter } from '@holdfast/agent';
import * as z from 'zod';
import type { Sha256 } from '../coding-job.js';
import { digestOfJson } from './canonical-json.js';
import { listContractFeatures } from './features.js';
import { absolutePath, safeId, sha256 } from './field-rules.wire.js';
import { readShape, refuseShape, type ShapeName } from './read-shape.wire.js';

/** What a coding job runs on, to the byte. A thread is bound to its digest: no part of it can change under a conversation. */
export interface CodingAdapterContract {
  readonly schemaVersion: 1;
  readonly adapterId: string;
  readonly adapterVersion: string;
  readonly adapterProtocolVersion: string;
  readonly actionKind: string;
  /** Of everything that the adapter declares. */
  readonly compatibilityDigest: Sha256;
  /** Of what the worker says that it can do. */
  readonly capabilityDigest: Sha256;
  /** Absolute path of the CLI. */
  readonly executable: string;
  readonly binaryDigest: Sha256;
  /** Sorted. */
  readonly requiredFeatures: readonly string[];
}

/** What a contract is made of. */
export interface ContractParts {
  readonly adapter: CodingAdapter;
  readonly executable: string;
  readonly binaryDigest: Sha256;
  readonly capabilityDigest: Sha256;
}

const CONTRACT: ShapeName = { what: 'adapter contract', kind: 'runner_unfit' };

const versionText = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$/, 'must be 1 to 128 of A-Z a-z 0-9 . _ + -');

const adapterContract = z.strictObject({
  schemaVersion: z.literal(1),
  adapterId: safeId,
  adapterVersion: versionText,
  adapterProtocolVersion: versionText.refine(
    (text) => !/tmux|pty|tty|terminal|screen/i.test(text),
    {
      error: 'must be a protocol between programs, no terminal',
    },
  ),
  actionKind: safeId,
  compatibilityDigest: sha256,
  capabilityDigest: sha256,
  executable: absolutePath,
  binaryDigest: sha256,
  requiredFeatures: z
    .array(safeId)
    .min(1)
    .refine((features) => features.every((one, at) => at === 0 || (features[at - 1] ?? '') < one), {
      error: 'must be sorted, each once',
    }),
});

/** The contract of an adapter with the binary and the worker that it is run with. */
export function describeContract({
  adapter,
  executable,
  binaryDigest,
  capabilityDigest,
}: ContractParts): CodingAdapterContract {
  const { adapterId, adapterVersion, adapterProtocolVersion, actionKind } = adapter;
  return decodeContract({
    schemaVersion: 1,
    adapterId,
    adapterVersion,
    adapterProtocolVersion,
    actionKind,
    compatibilityDigest: digestAdapter(adapter),
    capabilityDigest,
    executable,
    binaryDigest,
    requiredFeatures: listContractFeatures(adapterId),
  });
}

/** Reads a contract; anything else is `runner_unfit`. */
export function decodeContract(value: unknown): CodingAdapterContract {
  return readShape(adapterContract, value, CONTRACT) as CodingAdapterContract;
}

/** The digest that threads are bound to. */
export function digestContract(contract: CodingAdapterContract): Sha256 {
  return digestOfJson({ ...decodeContract(contract) });
}

/** The digest of what an adapter declares, whatever it is run with. */
export function digestAdapter(adapter: CodingAdapter): Sha256 {
  const { plan: _pure, payerSettings, ...declared } = adapter;
  return digestOfJson({ ...declared, payerSettings: payerSettings?.file });
}

/** Lets a contract pass that has the expected digests; otherwise `runner_unfit`, which names those that it has not. */
export function checkContractDigests(
  contract: CodingAdapterContract,
  expected: { readonly capabilityDigest?: Sha256; readonly binaryDigest?: Sha256 },
): void {
  const names = ['capabilityDigest', 'binaryDigest'] as const;
  const differing = names.filter(
    (name) => expected[name] !== undefined && expected[name] !== contract[name],
  );
  if (differing.length === 0) return;
  throw refuseShape(CONTRACT, {
    path: differing.join(', '),
    rule: 'must be what the runner was admitted with',
  });
}
