import { readFile } from 'node:fs/promises';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeJobRecord, encodeJobRecord } from './job-record.wire.js';

const json = JSON.parse(
  await readFile(new URL('./__fixtures__/v1/job.json', import.meta.url), 'utf8'),
);
const decode = (value: unknown) => decodeJobRecord(value, 'executions', '1~main~draft');

describe('a job on disk', () => {
  it('of version 1 is read, and written back with what a newer version put there', () => {
    const decoded = decode(json);
    if (decoded.state !== 'present') throw new TypeError(decoded.state);
    expect(decoded.record).toMatchObject({
      enqueuedAt: '2026-01-02T03:04:05.678Z',
      notBefore: '2026-01-02T03:04:09.678Z',
      waitMs: 4_000,
      lastError: 'It broke.',
      owner: { pid: 4711, hostId: 'host' },
      payload: { execution_id: '1~main~draft' },
    });
    expect(encodeJobRecord(decoded.record)).toEqual(json);
  });

  it.each([null, '', 0, false, [], {}, 'text'])('keeps the payload %j', (payload) => {
    const decoded = decode({ ...json, payload });
    if (decoded.state !== 'present') throw new TypeError(decoded.state);
    expect(decoded.record.payload).toEqual(payload);
    expect(encodeJobRecord(decoded.record)).toEqual({ ...json, payload });
  });

  it.each([
    null,
    'text',
    [],
    {},
    { ...json, id: 'another' },
    { ...json, queue: 'another' },
    { ...json, state: 'running' },
    { ...json, attempt: -1 },
    { ...json, order: '../escape' },
    { ...json, enqueued_at: 'yesterday' },
    { ...json, not_before: 'soon' },
  ])('is damaged as %j', (value) => {
    expect(decode(value)).toEqual({ state: 'damaged' });
  });

  it('of a newer version is told from a damaged one', () => {
    expect(decode({ schema_version: 2 })).toEqual({ state: 'newer' });
  });

  it('whose owner cannot be read is still a job', () => {
    expect(decode({ ...json, owner: 'somebody' })).toMatchObject({ state: 'present' });
  });

  it('is read without the codec only as the codec reads it', () => {
    const odd = fc.oneof(
      fc.constantFrom(
        undefined,
        null,
        '',
        ' ',
        0,
        -1,
        1.5,
        Number.POSITIVE_INFINITY,
        [],
        {},
        'parked',
        '2026-02-30T00:00:00.000Z',
      ),
      fc.jsonValue(),
    );
    // A key that it does not know makes it ask the codec.
    const byCodec = (value: object) => {
      const decoded = decode({ ...value, not_known: 1 });
      if (decoded.state !== 'present') return decoded;
      const { not_known: _not, ...record } = decoded.record as never as { not_known: number };
      return { ...decoded, record };
    };
    expect(decode(json)).toEqual(byCodec(json));
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(json)), odd, (key, by) => {
        const changed = { ...json, [key]: by };
        expect(decode(changed)).toEqual(byCodec(changed));
        const owned = { ...json, owner: { ...json.owner, pid: by } };
        expect(decode(owned)).toEqual(byCodec(owned));
      }),
      { numRuns: 1_000 },
    );
  });
});
