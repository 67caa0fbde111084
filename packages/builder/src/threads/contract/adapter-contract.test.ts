import { listCodingAdapters } from '@holdfast/agent';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { adapter, contractOf, refusalOf } from './__fixtures__/adapters.js';
import { DIGEST } from './__fixtures__/coding-jobs.js';
import {
  type CodingAdapterContract,
  checkContractDigests,
  decodeContract,
  digestContract,
} from './adapter-contract.wire.js';
import { digestOfText } from './canonical-json.js';
import {
  decodeCapabilities,
  describeCapabilities,
  digestCapabilities,
} from './capabilities.wire.js';

const OTHER = digestOfText('other');
const unfit = (act: () => unknown) => refusalOf('runner_unfit', act);
const at = (path: string) => expect.objectContaining({ path });

describe('an adapter contract', () => {
  it('is closed, versioned and bound by its digest: any change of it changes the digest', () => {
    const contract = contractOf();
    const changes: Partial<CodingAdapterContract>[] = [
      { adapterId: 'example-v2' },
      { adapterVersion: '1.2.4' },
      { adapterProtocolVersion: 'example-json-lines-v3' },
      { actionKind: 'coding.example-v2' },
      { compatibilityDigest: OTHER },
      { capabilityDigest: OTHER },
      { executable: '/opt/example/bin/other' },
      { binaryDigest: OTHER },
      { requiredFeatures: ['one'] },
    ];
    const fields = changes.flatMap((change) => Object.keys(change));
    expect(['schemaVersion', ...fields].sort()).toEqual(Object.keys(contract).sort());
    const digests = changes.map((change) => digestContract({ ...contract, ...change }));
    expect(new Set([digestContract(contract), ...digests]).size).toBe(changes.length + 1);
    expect(digestContract(JSON.parse(JSON.stringify(contract)))).toBe(digestContract(contract));
    expect(unfit(() => decodeContract({ ...contract, schemaVersion: 2 }))).toEqual(
      at('schemaVersion'),
    );
  });

  it('changes with everything that its adapter declares', () => {
    const digests = [
      {},
      { archive: 'tombstone' } as const,
      { permissionModes: { ...adapter.permissionModes, 'agent-policy': ['managed', 'inherit'] } },
      { adapterVersion: '1.2.4' },
    ].map((change) => digestContract(contractOf(change)));
    expect(new Set(digests).size).toBe(digests.length);
  });

  it('refuses an unknown key, and one that is not there', () => {
    const contract = contractOf();
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(contract)), (key) => {
        const { [key]: _gone, ...rest } = { ...contract } as Record<string, unknown>;
        expect(unfit(() => decodeContract(rest))).toEqual(at(key));
        expect(unfit(() => decodeContract({ ...contract, [`${key}Too`]: 1 }))).toEqual({
          path: `${key}Too`,
          rule: 'is unknown',
        });
      }),
    );
  });

  it.each([
    ['executable', 'bin/example'],
    ['executable', '/opt/../bin/example'],
    ['binaryDigest', 'sha256:1'],
    ['adapterId', 'a/b'],
    ['requiredFeatures', []],
    ['requiredFeatures', ['b', 'a']],
    ['requiredFeatures', ['a', 'a']],
  ])('refuses %s = %j', (name, value) => {
    const path = expect.stringContaining(name);
    expect(unfit(() => decodeContract({ ...contractOf(), [name]: value }))).toEqual(
      expect.objectContaining({ path }),
    );
  });

  it('needs a protocol between programs, and refuses what reads a terminal', () => {
    for (const adapterProtocolVersion of ['tmux-v1', 'pty-v1', 'Terminal-v2', 'screen-v1', '']) {
      expect(unfit(() => contractOf({ adapterProtocolVersion }))).toEqual(
        at('adapterProtocolVersion'),
      );
    }
    for (const { adapter: declared } of listCodingAdapters()) {
      expect(contractOf(declared)).toMatchObject({ adapterId: declared.adapterId });
    }
  });

  it('is compared by digests with what the runner was admitted with, never by versions', () => {
    const contract = contractOf();
    const { capabilityDigest } = contract;
    expect(unfit(() => checkContractDigests(contract, {}))).toBe('taken');
    const admitted = { capabilityDigest, binaryDigest: DIGEST };
    expect(unfit(() => checkContractDigests(contract, admitted))).toBe('taken');
    expect(
      unfit(() => checkContractDigests(contract, { ...admitted, binaryDigest: OTHER })),
    ).toEqual(at('binaryDigest'));
    const drifted = { capabilityDigest: OTHER, binaryDigest: OTHER };
    expect(unfit(() => checkContractDigests(contract, drifted))).toEqual(
      at('capabilityDigest, binaryDigest'),
    );
  });
});

describe('what a worker says that it can do', () => {
  it('is closed, has a digest of its own for each adapter, and names the protocol it speaks', () => {
    const document = describeCapabilities(adapter);
    expect(decodeCapabilities(JSON.parse(JSON.stringify(document)))).toEqual(document);
    const digest = digestCapabilities(document);
    for (const change of [{ adapterVersion: '2' }, { archive: 'tombstone' } as const]) {
      expect(digestCapabilities(describeCapabilities({ ...adapter, ...change }))).not.toBe(digest);
    }
    for (const [change, path] of [
      [{ protocolVersion: '2.0' }, 'protocolVersion'],
      [{ supportsApprovals: true }, 'supportsApprovals'],
      [{ maximumEventBytes: 1 }, 'maximumEventBytes'],
      [{ supportsMore: true }, 'supportsMore'],
    ] as const) {
      expect(unfit(() => decodeCapabilities({ ...document, ...change }))).toEqual(at(path));
    }
  });
});
