import { readFile } from 'node:fs/promises';
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
});
