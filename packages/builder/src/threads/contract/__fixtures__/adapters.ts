import type { CodingAdapter } from '@holdfast/agent';
import { type CodingThreadError, isCodingThreadError } from '../../coding-thread-error.js';
import { type CodingAdapterContract, describeContract } from '../adapter-contract.wire.js';
import { describeCapabilities, digestCapabilities } from '../capabilities.wire.js';
import { DIGEST } from './coding-jobs.js';

/** An adapter of nobody's, with a source of its own. */
export const adapter: CodingAdapter = {
  adapterId: 'example-v1',
  adapterVersion: '1.2.3-policy-v1',
  adapterProtocolVersion: 'example-json-lines-v2',
  actionKind: 'coding.example-v1',
  archive: 'native',
  permissionModes: {
    'agent-policy': ['managed'],
    'example-cli': ['inherit', 'trusted-personal-unattended'],
  },
  plan: ({ workTree }) => ({ config: { workingDir: workTree }, unenforced: [] }),
};

/** The contract of that adapter, or of one that differs. */
export function contractOf(change: Partial<CodingAdapter> = {}): CodingAdapterContract {
  const changed = { ...adapter, ...change };
  return describeContract({
    adapter: changed,
    executable: '/opt/example/bin/example',
    binaryDigest: DIGEST,
    capabilityDigest: digestCapabilities(describeCapabilities(changed)),
  });
}

/** The path and the rule of a refusal of that kind; `taken` where there was none. */
export function refusalOf(kind: CodingThreadError['kind'], act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    if (isCodingThreadError(error) && error.kind === kind) return error.details.evidence;
    throw error;
  }
  return 'taken';
}
