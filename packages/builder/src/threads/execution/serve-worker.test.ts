import { PassThrough } from 'node:stream';
import { AuthRequiredError, waitUntil } from '@holdfast/agent';
import { describe, expect, it } from 'vitest';
import type { CodingOutcome } from '../coding-job.js';
import { CodingThreadError } from '../coding-thread-error.js';
import { digestOfJson } from '../contract/canonical-json.js';
import { digestCapabilities } from '../contract/capabilities.wire.js';
import { capabilities, outcome, spec } from './__fixtures__/fake-worker.js';
import { encodeFrame } from './frame-reader.js';
import { type ServedJob, type ServeWorkerOptions, serveWorker } from './serve-worker.js';
import {
  decodeEvent,
  encodeCommand,
  toJson,
  type WorkerCommand,
  type WorkerEvent,
} from './worker-protocol.wire.js';

const identity = {
  executionId: 'execution-1',
  leaseId: 'lease-1',
  fencingToken: 7,
  transportNonce: 'n'.repeat(48),
};
const hello: WorkerCommand = {
  type: 'hello',
  identity,
  expectedCapabilityDigest: digestCapabilities(capabilities),
};
const start: WorkerCommand = {
  type: 'start',
  input: spec,
  specDigest: digestOfJson(toJson(spec)),
  deadlineMs: 60_000,
};

type Job = (job: ServedJob) => Promise<CodingOutcome>;

/** A worker in this process: what it is told, and what it says. */
function serve(run: Job, options: Partial<ServeWorkerOptions> = {}) {
  const input = new PassThrough();
  let isBegun = false;
  const frames: string[] = [];
  const served = serveWorker({
    input,
    write: (text) => void frames.push(text),
    capabilities,
    isOurRunner: (nonce) => nonce === identity.transportNonce,
    run: (job) => {
      isBegun = true;
      return run(job);
    },
    ...options,
  });
  const events = (): readonly WorkerEvent[] => frames.map((frame) => decodeEvent(frame));
  const tell = (...commands: readonly WorkerCommand[]) => {
    for (const command of commands) input.write(encodeFrame(encodeCommand(command)));
  };
  const payloads = () => events().map(({ payload }) => payload);
  return {
    input,
    served,
    events,
    payloads,
    frames,
    end: async () => {
      await served;
      return payloads().at(-1);
    },
    tell,
    /** Gives it its job, and waits until that was begun. */
    begin: async () => {
      tell(hello, start);
      await waitUntil(() => isBegun, { awaiting: 'the job', deadlineMs: 20_000 });
    },
  };
}

const succeed: Job = () => Promise.resolve(outcome);
const untilCancelled: Job = ({ signal }) =>
  new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

describe('a worker', () => {
  it('authenticates its runner, says what it can do, works and tells one end', async () => {
    const worker = serve(async ({ report }) => {
      report({ type: 'step', step: 'claim' });
      return outcome;
    });
    worker.tell(hello, start);
    await worker.served;
    const { patch, ...output } = outcome;
    expect(worker.payloads()).toEqual([
      { type: 'ready', capabilities },
      { type: 'progress', message: 'claim' },
      { type: 'coding-patch', patch },
      { type: 'terminal', class: 'success', output },
    ]);
    expect(worker.events().map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
    for (const event of worker.events()) {
      expect(event).toMatchObject({
        executionId: 'execution-1',
        leaseId: 'lease-1',
        fencingToken: 7,
      });
    }
    expect(JSON.stringify(worker.frames)).not.toContain(identity.transportNonce);
  });

  it('takes nothing from a process that did not start it', async () => {
    const worker = serve(succeed);
    worker.tell({ ...hello, identity: { ...identity, transportNonce: 'x'.repeat(48) } });
    await expect(worker.served).rejects.toMatchObject({ fault: 'wrong_fence' });
    expect(worker.frames).toEqual([]);
  });

  it('hears hello first', async () => {
    const worker = serve(succeed);
    worker.tell(start);
    await expect(worker.served).rejects.toMatchObject({ fault: 'out_of_order' });
  });

  it('says nothing and ends when its runner ends before hello', async () => {
    const worker = serve(succeed);
    worker.input.end();
    await worker.served;
    expect(worker.frames).toEqual([]);
  });

  it('preflight failure tells its end without waiting for the host', async () => {
    const worker = serve(() =>
      Promise.reject(new CodingThreadError('thread_busy', 'It is busy.', { sessionRef: 's' })),
    );
    worker.tell(hello, start);
    // Its input stays open: nobody says another word.
    expect(await worker.end()).toMatchObject({
      class: 'recoverable_failure',
      error: { kind: 'thread_busy', family: 'coding_thread', retry: 'same' },
    });
  });

  it('tells the typed error of an agent, and a defect as one', async () => {
    const login = serve(() =>
      Promise.reject(new AuthRequiredError({ provider: 'some-cli', detail: 'log in' } as never)),
    );
    login.tell(hello, start);
    expect(await login.end()).toMatchObject({ error: { family: 'agent', kind: 'auth_required' } });
    const broken = serve(() => Promise.reject(new RangeError('x')));
    broken.tell(hello, start);
    expect(await broken.end()).toMatchObject({
      class: 'terminal_failure',
      error: { family: 'defect', retry: 'inspect' },
    });
  });

  it('tells no value that it was given by the name of a variable', async () => {
    const error = new CodingThreadError('thread_failed', 'It said s3cret-value.', {
      evidence: { said: ['with s3cret-value in it'] },
    });
    const worker = serve(() => Promise.reject(error), {
      secretsOf: () => ['s3cret', 's3cret-value'],
    });
    worker.tell(hello, start);
    expect(await worker.end()).toMatchObject({
      error: { message: 'It said [redacted].', json: { details: {} } },
    });
    expect(JSON.stringify(worker.frames)).not.toContain('s3cret');
  });

  it('refuses a job of another adapter, and one that is not the admitted one', async () => {
    const other = { ...spec, adapterId: 'claude-code-v1' };
    for (const wrong of [
      { ...start, input: other, specDigest: digestOfJson(toJson(other)) },
      { ...start, input: { ...spec, operationId: 'op-2' } },
    ]) {
      const worker = serve(succeed);
      worker.tell(hello, wrong);
      expect(await worker.end()).toMatchObject({ error: { kind: 'runner_unfit' } });
    }
  });

  it('refuses to be taken for another one', async () => {
    const worker = serve(succeed);
    worker.tell({ ...hello, expectedCapabilityDigest: `sha256:${'0'.repeat(64)}` });
    expect(await worker.end()).toMatchObject({ error: { kind: 'runner_unfit' } });
  });

  it('says that an end is unknown which no frame can hold: its record tells more', async () => {
    const worker = serve(async () => ({ ...outcome, finalMessage: 'x'.repeat(1024 * 1024) }));
    worker.tell(hello, start);
    const end = await worker.end();
    expect(end).toMatchObject({ class: 'unknown', reason: expect.stringContaining('too_large') });
  });
});

describe('a worker that is cancelled', () => {
  it('before its job does not begin', async () => {
    const worker = serve(succeed);
    worker.tell(hello, { type: 'cancel', reason: 'enough' });
    expect(await worker.end()).toEqual({ type: 'terminal', class: 'cancelled', reason: 'enough' });
  });

  it('interrupts its job and tells so', async () => {
    const worker = serve(untilCancelled);
    await worker.begin();
    worker.tell({ type: 'cancel', reason: 'enough' });
    expect(await worker.end()).toEqual({ type: 'terminal', class: 'cancelled', reason: 'enough' });
  });

  it('by the end of its runner interrupts its job too', async () => {
    const worker = serve(untilCancelled);
    await worker.begin();
    worker.input.end();
    expect(await worker.end()).toMatchObject({
      class: 'cancelled',
      reason: 'the runner has ended',
    });
  });

  it('by a word that is none of the protocol, or said twice', async () => {
    for (const text of [
      '{"type":"checkpoint"}\n',
      'no json\n',
      encodeFrame(encodeCommand(start)),
    ]) {
      const worker = serve(untilCancelled);
      await worker.begin();
      worker.input.write(text);
      expect(await worker.end()).toMatchObject({ class: 'cancelled' });
    }
  });

  it('between the two halves of a command loses neither', async () => {
    let put = Number.NaN;
    const worker = serve(async ({ deadlineAt, signal }) => {
      await waitUntil(() => signal.aborted, { awaiting: 'the cancel', deadlineMs: 20_000 });
      put = deadlineAt() - Date.now();
      throw signal.reason;
    });
    const renew = encodeFrame(encodeCommand({ type: 'renew', deadlineMs: 600_000 }));
    await worker.begin();
    worker.input.write(renew.slice(0, 9));
    worker.input.write(renew.slice(9));
    worker.tell({ type: 'cancel', reason: 'enough' });
    expect(await worker.end()).toMatchObject({ class: 'cancelled', reason: 'enough' });
    expect(put).toBeGreaterThan(60_000);
  });

  it('after it committed still delivers what was committed', async () => {
    const worker = serve(async ({ signal }) => {
      await waitUntil(() => signal.aborted, { awaiting: 'the cancel', deadlineMs: 20_000 });
      return outcome;
    });
    await worker.begin();
    worker.tell({ type: 'cancel', reason: 'enough' });
    expect(await worker.end()).toMatchObject({ class: 'success' });
  });

  it('and goes on for ever is given up by itself', async () => {
    const clock = {
      now: () => Date.now(),
      monotonicMs: () => performance.now(),
      sleep: () => Promise.resolve(),
    };
    const worker = serve(() => new Promise(() => {}), { clock });
    await worker.begin();
    worker.tell({ type: 'cancel', reason: 'enough' });
    expect(await worker.end()).toMatchObject({ class: 'unknown' });
  });
});
