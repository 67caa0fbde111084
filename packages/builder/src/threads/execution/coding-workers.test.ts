import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { type Clock, systemClock, waitUntil } from '@holdfast/agent';
import { describe, expect, it } from 'vitest';
import { reviewJob } from '../contract/__fixtures__/coding-jobs.js';
import type { WorkerEnd } from '../worker/worker-spec.js';
import { fakeWorker, outcome, spec, turnOf } from './__fixtures__/fake-worker.js';
import { createCodingWorkers } from './create-coding-workers.js';

/** As real time is, but for a worker that told its end and stays: it is killed soon. */
const withoutExit: Clock['sleep'] = (ms, signal) =>
  systemClock.sleep(ms === 10_000 ? 100 : ms, signal);
const kindOf = (end: WorkerEnd) => (end.class === 'failed' ? end.error.kind : end.class);
const reasonIn = (end: WorkerEnd) => ('reason' in end ? end.reason : '');

describe('a worker process', () => {
  it('is told its job on its input alone, and its end is taken once nothing of it is left', async () => {
    const bench = await fakeWorker(`
      const start = await begin();
      await step(start.input.turn.prompt === 'Build it.' ? 'claim' : 'validate_spec');
      await step(process.argv.length === 4 ? 'run_turn' : 'validate_spec');
      await succeed();
    `);
    expect(await bench.run()).toEqual({ class: 'success', outcome });
    expect(bench.progress).toEqual([
      { type: 'step', step: 'claim' },
      { type: 'step', step: 'run_turn' },
    ]);
    expect(bench.processes()).toEqual([]);
  });

  it('that dies without a terminal is unknown', async () => {
    const bench = await fakeWorker('await begin(); process.exit(3);');
    const end = await bench.run();
    expect(end.class).toBe('unknown');
    expect(reasonIn(end)).toContain('code 3');
  });

  it('that dies before it was given its job has failed, and the job may be tried again', async () => {
    const bench = await fakeWorker('process.exit(3);');
    const end = await bench.run();
    expect(end).toMatchObject({ class: 'failed', error: { kind: 'runner_unfit', retry: 'same' } });
  });

  it('that dies in the middle of a frame is unknown', async () => {
    const bench = await fakeWorker(`
      await begin();
      await write(frame(terminal({ class: 'success', output })).slice(0, 60));
      process.exit();
    `);
    expect(kindOf(await bench.run())).toBe('unknown');
  });

  it('names the kind of error it died of and tells none of its words', async () => {
    const bench = await fakeWorker(`await begin(); throw new RangeError('a private word');`);
    const end = await bench.run();
    expect(reasonIn(end)).toContain('RangeError');
    expect(JSON.stringify(end)).not.toContain('private');
  });

  it('may complain without end: its complaints are drained and none is kept', async () => {
    const bench = await fakeWorker(`
      await begin();
      const line = 'complaint '.repeat(1000);
      for (let i = 0; i < 1000; i += 1) await new Promise((r) => process.stderr.write(line, r));
      await succeed();
    `);
    expect(await bench.run()).toEqual({ class: 'success', outcome });
  });

  it('may tell a burst of events, of which none is lost', async () => {
    const bench = await fakeWorker(`
      await begin();
      for (let i = 0; i < 5000; i += 1) {
        process.stdout.write(frame({ type: 'usage', usage: { i } }) + '\\n');
      }
      await succeed();
    `);
    expect(await bench.run()).toEqual({ class: 'success', outcome });
    expect(bench.progress).toEqual(
      Array.from({ length: 5000 }, (_, i) => ({ type: 'usage', usage: { i } })),
    );
  });

  it('ends well though whoever hears of its progress throws', async () => {
    const bench = await fakeWorker(`await begin(); await step('claim'); await succeed();`);
    const onProgress = () => {
      throw new TypeError('not now');
    };
    expect((await bench.run({ onProgress })).class).toBe('success');
  });

  it('tells a failure in its own words of the protocol', async () => {
    const error = {
      kind: 'thread_busy',
      family: 'coding_thread',
      message: 'It is busy.',
      retry: 'same',
      json: {},
    };
    const bench = await fakeWorker(`
      await begin();
      await say(terminal({ class: 'recoverable_failure', error: ${JSON.stringify(error)} }));
    `);
    expect(await bench.run()).toEqual({ class: 'failed', error });
  });
});

describe('protocol rejects', () => {
  const faults = {
    'an unknown field': `await step('claim', { extra: 1 });`,
    'an unknown field of a payload': `await say({ type: 'progress', message: 'claim', extra: 1 });`,
    'an unknown event': `await say({ type: 'approval-requested', request_id: 'x' });`,
    'a gap in the sequence': `sequence += 1; await step('claim');`,
    'a repeated sequence': `await step('claim'); sequence -= 1; await step('claim');`,
    'the fence of another try': `await step('claim', { fencingToken: 2 });`,
    'the lease of another try': `await step('claim', { leaseId: 'other' });`,
    'another version': `await step('claim', { protocolVersion: '1.3' });`,
    'what is no JSON': `await write('{"a":\\n');`,
    'an oversized frame': `await write('[' + '1,'.repeat(600000) + '1]\\n');`,
    'an oversized frame without an end': `await write('1'.repeat(1100000)); await stay();`,
    'what is no UTF-8': `process.stdout.write(Buffer.from([0x22, 0xff, 0x22, 0x0a]));`,
    'ready a second time': `await say({ type: 'ready', capabilities });`,
    'a patch a second time': `await say(patch); await say(patch);`,
    'a patch with another digest': `await say({ ...patch, patch: patch.patch + ' ' });`,
    'a patch against another base': `await say({ ...patch, base_revision: 'c'.repeat(40) });`,
    'a patch of other paths': `await say({ ...patch, changed_paths: ['src/two.txt'] });`,
    'an outcome of another operation': `await say(patch);
      await say(terminal({ class: 'success', output: { ...output, operationId: 'op-2' } }));`,
    'an outcome without its receipt': `await say(patch);
      await say(terminal({ class: 'success', output: { ...output, thread: undefined } }));`,
    'a receipt of a state nobody asked for': `await say(patch);
      await say(terminal({ class: 'success',
        output: { ...output, thread: { ...output.thread, state: 'CLOSED' } } }));`,
    'an implementation without its patch': `await say(terminal({ class: 'success', output }));`,
  };
  for (const [name, body] of Object.entries(faults)) {
    it(`${name}, and the try is unknown`, async () => {
      const bench = await fakeWorker(`await begin(); ${body} await succeed();`);
      const end = await bench.run();
      expect(end.class).toBe('unknown');
      expect(reasonIn(end)).toMatch(/protocol is broken/);
      expect(bench.processes()).toEqual([]);
    });
  }

  it('an event after the terminal', async () => {
    const bench = await fakeWorker(`await begin(); await succeed(); await step('claim');`);
    expect(kindOf(await bench.run())).toBe('unknown');
  });

  it('a worker with other capabilities before it is given its job', async () => {
    const bench = await fakeWorker(`
      await say({ type: 'ready', capabilities: { ...capabilities, adapterVersion: 'other' } });
      if (await hear()) await succeed();
    `);
    expect(kindOf(await bench.run())).toBe('runner_unfit');
  });

  it('a patch of a reviewer', async () => {
    const bench = await fakeWorker('await begin(); await say(patch); await stay();');
    const end = await bench.run({ spec: { ...spec, turn: turnOf(reviewJob()) } });
    expect(reasonIn(end)).toContain('a reviewer has no patch');
  });
});

describe('cancellation', () => {
  it('reaches the worker, which tells that it was cancelled', async () => {
    const bench = await fakeWorker(`
      await begin(); await step('run_turn');
      const { type, reason } = await hear();
      await say(terminal({ class: 'cancelled', reason: type + ' ' + reason }));
    `);
    const stop = new AbortController();
    const end = await bench.run({
      signal: stop.signal,
      onProgress: () => stop.abort('enough'),
    });
    expect(end).toEqual({ class: 'cancelled', reason: 'enough' });
  });

  it("cannot be overridden by a worker's success, which is evidence alone", async () => {
    const bench = await fakeWorker(`
      await begin(); await step('commit'); await hear(); await succeed();
    `);
    const stop = new AbortController();
    const end = await bench.run({ signal: stop.signal, onProgress: () => stop.abort('enough') });
    expect(end).toEqual({ class: 'cancelled', reason: 'enough', outcome });
  });

  it('between the body of an event and its newline preserves both frames', async () => {
    const bench = await fakeWorker(`
      await begin(); await step('claim');
      const half = frame({ type: 'progress', message: 'run_turn' });
      await write(half);
      await hear();
      await write('\\n'); await succeed();
    `);
    const stop = new AbortController();
    const end = await bench.run({ signal: stop.signal, onProgress: () => stop.abort('enough') });
    expect(bench.progress).toHaveLength(2);
    expect(end).toEqual({ class: 'cancelled', reason: 'enough', outcome });
  });

  it('ends a worker that does not answer, with all it started, and the try is unknown', async () => {
    const bench = await fakeWorker(
      `
      await begin();
      process.on('SIGTERM', () => {});
      spawn('/bin/sh', ['-c', 'trap "" TERM; while :; do sleep 60; done'], { detached: true });
      await step('run_turn'); await stay();
    `,
      { graceMs: 100 },
    );
    const stop = new AbortController();
    const end = await bench.run({ signal: stop.signal, onProgress: () => stop.abort('enough') });
    expect(end.class).toBe('unknown');
    expect(bench.processes()).toEqual([]);
  });

  it('before anything was started starts nothing', async () => {
    const bench = await fakeWorker('await begin(); await succeed();');
    const end = await bench.run({ signal: AbortSignal.abort('never mind') });
    expect(end).toEqual({ class: 'cancelled', reason: 'never mind' });
  });

  it('that comes when the end was told changes nothing of it', async () => {
    const bench = await fakeWorker(`
      await begin(); await succeed();
      await hear();
    `);
    const stop = new AbortController();
    const running = bench.run({ signal: stop.signal });
    expect((await running).class).toBe('success');
    stop.abort('late');
  });
});

describe('a deadline', () => {
  it('is told in the time that is left, and again when it was put off', async () => {
    const bench = await fakeWorker(`
      const { deadline_ms } = await begin();
      await step(deadline_ms > 30000 && deadline_ms <= 60000 ? 'claim' : 'validate_spec');
      const told = await hear();
      await step(told.type === 'renew' && told.deadline_ms > 60000 ? 'commit' : 'validate_spec');
      await succeed();
    `);
    const first = Date.now() + 60_000;
    const end = await bench.run({
      deadlineAt: () => (bench.progress.length > 0 ? first + 60_000 : first),
    });
    expect(end.class).toBe('success');
    expect(bench.progress).toEqual([
      { type: 'step', step: 'claim' },
      { type: 'step', step: 'commit' },
    ]);
  });

  it('is enforced on a worker that hangs', async () => {
    const bench = await fakeWorker(`await begin(); await step('run_turn'); for (;;) {}`, {
      graceMs: 100,
    });
    const end = await bench.run({ deadlineAt: () => (bench.progress.length > 0 ? 0 : Infinity) });
    expect(end.class).toBe('unknown');
    expect(reasonIn(end)).toContain('deadline_exceeded');
    expect(bench.processes()).toEqual([]);
  });

  it('does not cost what was written before the worker is killed', async () => {
    const bench = await fakeWorker(
      `
      await begin(); await step('run_turn'); await hear();
      await succeed(); await stay();
    `,
      { clock: { ...systemClock, sleep: withoutExit } },
    );
    const end = await bench.run({
      deadlineAt: () => (bench.progress.length > 0 ? 0 : Date.now() + 60_000),
    });
    expect(end).toEqual({ class: 'success', outcome });
  });
});

describe('what a worker leaves behind', () => {
  it('normal exit kills descendants that closed their pipes', async () => {
    const bench = await fakeWorker(`
      await begin();
      const child = spawn('/bin/sh', ['-c', 'sleep 600 & exec sleep 600'], {
        detached: true, stdio: 'ignore',
      });
      child.unref();
      await new Promise((resolve) => child.once('spawn', resolve));
      await succeed(); process.exit();
    `);
    expect((await bench.run()).class).toBe('success');
    expect(bench.processes()).toEqual([]);
  });

  it('is ended though it holds the pipes of the worker', async () => {
    const bench = await fakeWorker(`
      await begin();
      spawn('/bin/sleep', ['600'], { stdio: 'inherit' });
      await succeed(); process.exit();
    `);
    expect((await bench.run()).class).toBe('success');
    expect(bench.processes()).toEqual([]);
  });

  it('is ended though it has another environment', async () => {
    const bench = await fakeWorker(`
      await begin();
      const child = spawn('/bin/sleep', ['600'], { stdio: 'ignore', env: {} });
      await new Promise((resolve) => child.once('spawn', resolve));
      await say({ type: 'usage', usage: { pid: child.pid } });
      await succeed(); process.exit();
    `);
    expect((await bench.run()).class).toBe('success');
    const [told] = bench.progress;
    const pid = told?.type === 'usage' ? Reflect.get(Object(told.usage), 'pid') : 0;
    await waitUntil(async () => !(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')), {
      awaiting: 'the end of the process',
      deadlineMs: 20_000,
    });
  });
});

describe('a worker that is not started', () => {
  it('rejects worker binary drift before spawn', async () => {
    const bench = await fakeWorker(`await begin(); await succeed();`);
    expect((await bench.run()).class).toBe('success');
    await appendFile(bench.file, '\n// changed');
    expect(await bench.run()).toMatchObject({ class: 'failed', error: { kind: 'runner_unfit' } });
  });

  it('secret shaped environment is refused', async () => {
    const bench = await fakeWorker(`await begin(); await succeed();`);
    const withSecret = { ...spec, cli: { env: { SOME_API_KEY: 'secret-value' } } };
    const end = await bench.run({ spec: withSecret });
    expect(kindOf(end)).toBe('runner_unfit');
    expect(JSON.stringify(end)).not.toContain('secret-value');
  });

  it('names the variable that a spec refers to and nobody set', async () => {
    const bench = await fakeWorker(`await begin(); await succeed();`);
    const end = await bench.run({ spec: { ...spec, cli: { env: { A: { env: 'HF_NOT_SET' } } } } });
    expect(end).toMatchObject({ error: { message: expect.stringContaining('HF_NOT_SET') } });
  });

  it('is the one whose program is not there, or says nothing of what it can do', async () => {
    const bench = await fakeWorker('');
    for (const program of ['process.exit(1);', 'console.log("anything");', undefined]) {
      if (program === undefined) await rm(bench.file);
      else await writeFile(bench.file, program);
      const workers = createCodingWorkers({ workerFile: bench.file });
      const digest = workers.capabilityDigest(spec.adapterId);
      await expect(digest).rejects.toMatchObject({ kind: 'runner_unfit' });
    }
  });

  it('is the one whose job is larger than it can be told', async () => {
    const bench = await fakeWorker(`await begin(); await succeed();`);
    const prompt = 'x'.repeat(1024 * 1024);
    const end = await bench.run({ spec: { ...spec, turn: { ...spec.turn, prompt } } });
    expect(kindOf(end)).toBe('invalid_job');
  });
});
