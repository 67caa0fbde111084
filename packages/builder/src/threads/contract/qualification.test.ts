import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contractOf, refusalOf } from './__fixtures__/adapters.js';
import { DIGEST } from './__fixtures__/coding-jobs.js';
import { digestContract } from './adapter-contract.wire.js';
import {
  type AdapterQualification,
  checkQualification,
  decodeQualification,
  QUALIFICATION_DIMENSIONS,
} from './qualification.wire.js';

const contract = contractOf();
const full: AdapterQualification = {
  schemaVersion: 1,
  status: 'qualified',
  evaluated: QUALIFICATION_DIMENSIONS,
  contractDigest: digestContract(contract),
  evidenceDigest: DIGEST,
};
const at = (path: string) => expect.objectContaining({ path });

const readings = (change: object) =>
  refusalOf('runner_unfit', () => decodeQualification({ ...full, ...change }));

const uses = (change: object, use: 'local' | 'production' = 'production') =>
  refusalOf('runner_unfit', () => checkQualification({ ...full, ...change }, { contract, use }));

describe('an adapter', () => {
  it('is closed for production until it was qualified on its own, in every dimension', () => {
    expect(QUALIFICATION_DIMENSIONS).toHaveLength(13);
    expect(uses({})).toBe('taken');
    for (const dimension of QUALIFICATION_DIMENSIONS) {
      const evaluated = QUALIFICATION_DIMENSIONS.filter((one) => one !== dimension);
      expect(uses({ evaluated }), dimension).toEqual(at('evaluated'));
    }
    expect(uses({ contractDigest: undefined })).toEqual(at('contractDigest'));
    expect(uses({ status: 'withdrawn' })).toEqual(at('status'));
    expect(uses({ status: 'withdrawn' }, 'local')).toEqual(at('status'));
    expect(uses({ status: 'prototype-only', contractDigest: undefined }, 'local')).toEqual(
      at('status'),
    );
  });

  it('is qualified with one contract, and with no other', () => {
    expect(uses({ contractDigest: digestContract(contractOf({ adapterVersion: '2' })) })).toEqual(
      at('contractDigest'),
    );
    expect(uses({ contractDigest: DIGEST }, 'local')).toEqual(at('contractDigest'));
  });

  it('is never promoted to production by a local qualification', () => {
    const evaluated = QUALIFICATION_DIMENSIONS.filter((one) => one !== 'license-compatibility');
    const local = { status: 'local-qualified', evaluated };
    expect(uses(local, 'local')).toBe('taken');
    expect(uses(local)).toEqual(at('status'));
    expect(uses({ status: 'local-qualified' })).toEqual(at('status'));
    expect(readings({ ...local, evaluated: evaluated.slice(1) })).toEqual(at('evaluated'));
    expect(readings({ ...local, status: 'qualified' })).toEqual(at('evaluated'));
  });
});

describe('a qualification', () => {
  it('is a closed shape', () => {
    for (const [change, path] of [
      [{ schemaVersion: 2 }, 'schemaVersion'],
      [{ status: 'good' }, 'status'],
      [{ evidenceDigest: undefined }, 'evidenceDigest'],
      [{ by: 'me' }, 'by'],
      [{ status: 'prototype-only' }, 'contractDigest'],
    ] as const) {
      expect(readings(change)).toEqual(at(path));
    }
    expect(readings({ evaluated: [...QUALIFICATION_DIMENSIONS, 'cancellation'] })).toEqual(
      at('evaluated'),
    );
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(refusalOf('runner_unfit', () => decodeQualification(value))).not.toBe('taken');
      }),
    );
  });
});
