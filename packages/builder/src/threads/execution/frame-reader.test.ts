import { describe, expect, it, vi } from 'vitest';
import { MAXIMUM_EVENT_BYTES } from '../contract/capabilities.wire.js';
import { spec } from './__fixtures__/fake-worker.js';
import { encodeFrame, FrameReader } from './frame-reader.js';
import { decodeCommand, decodeEvent, encodeCommand, encodeEvent } from './worker-protocol.wire.js';

const fault = (name: string) => expect.objectContaining({ fault: name });
const bytes = (text: string) => Buffer.from(text);

describe('frames', () => {
  it('are bounded before JSON is parsed, with and without an end', () => {
    const parse = vi.spyOn(JSON, 'parse');
    const tooLong = 'x'.repeat(MAXIMUM_EVENT_BYTES + 1);
    expect(() => new FrameReader().push(bytes(tooLong))).toThrow(fault('frame_too_large'));
    expect(() => new FrameReader().push(bytes(`${tooLong}\n`))).toThrow(fault('frame_too_large'));
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
  });

  it('may have as many bytes as a worker declares, and no more can be sent', () => {
    const longest = 'x'.repeat(MAXIMUM_EVENT_BYTES - 2);
    expect(new FrameReader().push(bytes(encodeFrame(longest)))).toEqual([`"${longest}"`]);
    expect(() => encodeFrame(`${longest}x`)).toThrow(fault('frame_too_large'));
  });

  it('are the same however their bytes come, in the middle of a character too', () => {
    const text = '{"a":"ä€😀"}\n{"b":" "}\n';
    for (let size = 1; size <= 7; size += 1) {
      const reader = new FrameReader();
      const all = bytes(text);
      const frames: string[] = [];
      for (let at = 0; at < all.length; at += size) {
        const chunk = Buffer.from(all.subarray(at, at + size));
        frames.push(...reader.push(chunk));
        chunk.fill(0);
      }
      expect(frames).toEqual(text.trimEnd().split('\n'));
      expect(reader.isTorn).toBe(false);
    }
  });

  it('of which only a part has come wait for the rest', () => {
    const reader = new FrameReader();
    expect(reader.push(bytes('{"a"'))).toEqual([]);
    expect(reader.isTorn).toBe(true);
    expect(reader.push(bytes(':1}\n{'))).toEqual(['{"a":1}']);
  });

  it('that are no UTF-8 are refused', () => {
    const broken = Buffer.from([0x22, 0xff, 0x22, 0x0a]);
    expect(() => new FrameReader().push(broken)).toThrow(fault('frame_unreadable'));
  });
});

describe('commands', () => {
  const identity = {
    executionId: 'e',
    leaseId: 'l',
    fencingToken: 1,
    transportNonce: 'n'.repeat(32),
  };
  const digest = `sha256:${'a'.repeat(64)}` as const;
  const hello = { type: 'hello', identity, expectedCapabilityDigest: digest } as const;
  const all = [
    hello,
    { type: 'start', input: spec, specDigest: digest, deadlineMs: 5 },
    { type: 'renew', deadlineMs: 7 },
    { type: 'cancel', reason: 'enough' },
  ] as const;

  it('come back as they were sent, with the field names of the protocol', () => {
    for (const command of all) {
      expect(decodeCommand(JSON.stringify(encodeCommand(command)))).toEqual(command);
    }
    expect(encodeCommand(hello)).toHaveProperty('expected_capability_digest', digest);
  });

  it('with an unknown field, at any depth, or a nonce that can be guessed are refused', () => {
    const wrong = [
      { ...encodeCommand(hello), extra: 1 },
      { ...encodeCommand(hello), identity: { ...identity, extra: 1 } },
      { ...encodeCommand(hello), identity: { ...identity, transportNonce: 'short' } },
      { ...encodeCommand(all[1]), input: { ...spec, secret: 'x' } },
      { ...encodeCommand(all[1]), input: { ...spec, cli: { ...spec.cli, args: ['--yes'] } } },
      { type: 'cancel', reason: '' },
      { type: 'checkpoint', reason: 'x' },
    ];
    for (const command of wrong) {
      expect(() => decodeCommand(JSON.stringify(command))).toThrow(fault('frame_malformed'));
    }
  });

  it('that are refused are named by their path, never by their text', () => {
    const text = JSON.stringify({ ...encodeCommand(hello), token: 'a private word' });
    expect(() => decodeCommand(text)).toThrow(/token is unknown/);
    expect(() => decodeCommand(text)).not.toThrow(/private/);
  });
});

describe('events', () => {
  it('come back as they were sent, a patch with the field names of the protocol', () => {
    const patchDigest = `sha256:${'a'.repeat(64)}` as const;
    const patch = { baseRevision: 'a', patch: '', patchDigest, changedPaths: [] };
    const event = {
      protocolVersion: '1.4',
      eventId: '019a0000-0000-7000-8000-000000000001',
      executionId: 'e',
      leaseId: 'l',
      fencingToken: 0,
      sequence: 1,
      occurredAt: '2026-01-01T00:00:00.000Z',
      payload: { type: 'coding-patch', patch },
    } as const;
    expect(encodeEvent(event)).toHaveProperty('payload.patch_digest', patchDigest);
    expect(decodeEvent(JSON.stringify(encodeEvent(event)))).toEqual(event);
    const terminal = { type: 'terminal', class: 'cancelled', reason: 'enough' } as const;
    const ended = { ...event, payload: terminal };
    expect(decodeEvent(JSON.stringify(encodeEvent(ended)))).toEqual(ended);
  });
});
