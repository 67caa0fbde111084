import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { extractReceipt } from '../contract/extract-receipt.js';
import { place } from '../store/__fixtures__/thread-bench.js';
import { put } from '../workspace/__fixtures__/job.js';
import { getPatch } from '../workspace/patch-artifacts.js';
import { codingBench, reviewOf, TOMBSTONE, verdictOn } from './__fixtures__/coding-bench.js';

const changed = [{ path: 'src/one.txt', content: 'two\n' }];
const FINDING = 'f1';

describe('an implementer', () => {
  it('goes on in one conversation, on a repository that is rebuilt at the same place with its patch so far', async () => {
    const bench = await codingBench();
    bench.writes([...changed, { path: 'untracked.log', content: 'x' }, { path: 'build/x' }]);
    const first = await bench.run(bench.job());
    expect(first).toMatchObject({
      outcome: 'implemented',
      thread: { state: 'READY' },
      artifact: { resolvedFindingIds: [], validationEvidence: [] },
      finalMessage: 'done',
      usage: { inputTokens: 3, cachedInputTokens: 0, outputTokens: 2, authoritative: false },
    });
    const seen: string[] = [];
    bench.sessions.onStep = async () => {
      seen.push(await readFile(join(bench.root, 'work/src/one.txt'), 'utf8'));
      await expect(readFile(join(bench.root, 'work/build/x'))).rejects.toThrow();
      await put(join(bench.root, 'work'), [{ path: 'src/two.txt', content: 'more\n' }]);
    };
    const again = bench.job({ mode: 'resume', expectedCheckpoint: first.thread?.checkpoint });
    const second = await bench.run(again);
    expect(seen[0]).toBe('two\n');
    expect(second.patch?.changedPaths).toEqual(['src/one.txt', 'src/two.txt', 'untracked.log']);
    expect(second.evidence['nativeId']).toBe(first.evidence['nativeId']);
    expect(bench.sessions.sent.map(({ kind }) => kind)).toEqual(['start', 'continue']);
    const { patch = '', patchDigest = 'sha256:' } = second.patch ?? {};
    expect(await getPatch(bench.store, patchDigest)).toBe(patch);
    const [session] = bench.sessions.world.sessions.values();
    expect(session?.workingDir).toBe(join(bench.root, 'work'));
    expect(extractReceipt(second)).toEqual(second.thread);
  });

  it('has as evidence the commands that the CLI told with their exit codes, and no prose', async () => {
    const bench = await codingBench();
    bench.writes(changed);
    bench.sessions.answers = ['I ran all tests: exit code 0.'];
    bench.sessions.extraEvents = [
      { type: 'tool_finished', name: 'exec_command', callId: '1' },
      { type: 'command_finished', callId: '1', command: 'npm test', exitCode: 0 },
      { type: 'command_finished', callId: '2', command: 'npm run lint', exitCode: 2 },
    ];
    const { artifact } = await bench.run(bench.job());
    expect(artifact?.validationEvidence).toEqual([
      { command: ['npm test'], status: 'passed', exitCode: 0 },
      { command: ['npm run lint'], status: 'failed', exitCode: 2 },
    ]);
  });

  it('commits a turn that changed nothing', async () => {
    const bench = await codingBench();
    const outcome = await bench.run(bench.job());
    expect(outcome).toMatchObject({ outcome: 'no-change', patch: { patch: '', changedPaths: [] } });
    expect(outcome.artifact).toBeUndefined();
    expect((await bench.threads.inspect(place))?.state).toBe('READY');
  });

  it('is told where its repository is now and that earlier observations may be stale, at the first job too', async () => {
    const bench = await codingBench();
    const { thread } = await bench.run(bench.job());
    await bench.run(bench.job({ mode: 'resume', expectedCheckpoint: thread?.checkpoint }));
    for (const { text } of bench.sessions.sent) {
      expect(text).toContain(`stands at ${join(bench.root, 'work')}`);
      expect(text).toContain('may be stale');
      expect(text).toContain('shell state and running processes of earlier jobs were not carried');
      expect(text).toContain('Build it.');
    }
  });

  it('may change files only where its roots allow, as they stand on this machine', async () => {
    const bench = await codingBench();
    bench.writes([{ path: 'other/x.txt', content: 'x' }]);
    const roots = { writableRoots: ['/workspace/repo/src'] };
    await expect(bench.run(bench.job({}, roots))).rejects.toMatchObject({
      kind: 'patch_refused',
      details: { evidence: { path: 'other/x.txt', rule: 'writable-roots' } },
    });
    expect(bench.sessions.sent[0]?.text).toContain(join(bench.root, 'work/src'));
  });
});

describe('a reviewer', () => {
  it('sees the candidate on the base and refreshes it on resume; the implementer resolves what it names alone', async () => {
    const bench = await codingBench();
    const reviewer = { sessionRef: '019a0000-0000-7000-8000-00000000000b' };
    bench.writes(changed);
    const one = await bench.run(bench.job());
    bench.sessions.onStep = () => {};
    bench.sessions.answers = [verdictOn(one)];
    const judged = await bench.run(bench.job(reviewer, reviewOf(one), 'Review it.'));
    expect(judged).toMatchObject({ outcome: 'reviewed', review: { verdict: 'changes-required' } });
    expect(judged.patch).toBeUndefined();
    expect(judged.artifact).toBeUndefined();
    const asked = bench.sessions.sent.at(-1)?.text ?? '';
    for (const part of [
      'It works.',
      one.patch?.patchDigest ?? '-',
      '"verdict"',
      'additionalProperties',
    ])
      expect(asked).toContain(part);
    expect(asked).not.toContain('Build it.');

    const { review } = judged;
    bench.writes([{ path: 'src/one.txt', content: 'three\n' }]);
    bench.sessions.answers = [`Mended.\n{"resolvedFindingIds":["${FINDING}","f9"]}`];
    const two = await bench.run(
      bench.job(
        { mode: 'resume', expectedCheckpoint: one.thread?.checkpoint },
        review ? { remediation: { priorReview: review } } : {},
      ),
    );
    expect(two.artifact?.resolvedFindingIds).toEqual([FINDING]);
    expect(bench.sessions.sent.at(-1)?.text).toContain('"requiredResolution":"Make it right."');

    bench.sessions.onStep = () => {};
    bench.sessions.answers = [verdictOn(two, { verdict: 'approved', findings: [] })];
    const resumed = {
      ...reviewer,
      mode: 'resume',
      expectedCheckpoint: judged.thread?.checkpoint,
    } as const;
    const approved = await bench.run(bench.job(resumed, reviewOf(two, review)));
    expect(approved).toMatchObject({ review: { verdict: 'approved' }, thread: { state: 'READY' } });
    expect(bench.sessions.sent.at(-1)?.text).toContain('"findingId":"f1"');
    expect(bench.sessions.world.sessions.size).toBe(2);
  });

  it.each([
    ['is no JSON', () => 'looks good to me', 'thread_failed'],
    ['is about another candidate', () => verdictOn({ patch: undefined } as never), 'thread_failed'],
    ['has another review id', (one: never) => verdictOn(one, { reviewId: 'r9' }), 'thread_failed'],
  ])('whose answer %s fails the thread with evidence', async (_what, answer, kind) => {
    const bench = await codingBench();
    bench.writes(changed);
    const one = await bench.run(bench.job('ephemeral'));
    expect(one.artifact).toBeDefined();
    bench.sessions.onStep = () => {};
    bench.sessions.answers = [answer(one as never)];
    const job = bench.job({}, reviewOf(one));
    await expect(bench.run(job)).rejects.toMatchObject({ kind });
    expect(await bench.threads.inspect(place)).toMatchObject({
      state: 'FAILED',
      operations: [{ phase: 'failed', failure: 'thread_failed' }],
    });
  });

  it('that changes the candidate fails, while its scratch folder is ignored', async () => {
    const bench = await codingBench();
    bench.writes(changed);
    const one = await bench.run(bench.job('ephemeral'));
    const approve = [verdictOn(one, { verdict: 'approved', findings: [] })];
    bench.sessions.answers = approve;
    bench.sessions.onStep = () =>
      put(join(bench.root, 'scratch'), [{ path: 'note', content: 'x' }]);
    const { thread } = await bench.run(bench.job({}, reviewOf(one)));
    expect(thread?.state).toBe('READY');

    bench.writes([{ path: 'src/one.txt', content: 'sneaky\n' }]);
    const again = bench.job(
      { mode: 'resume', expectedCheckpoint: thread?.checkpoint },
      reviewOf(one),
    );
    await expect(bench.run(again)).rejects.toMatchObject({ kind: 'candidate_changed' });
    expect((await bench.threads.inspect(place))?.state).toBe('FAILED');
  });
});

describe('a job', () => {
  it('that was committed is answered from its thread, before anything is staged', async () => {
    const bench = await codingBench();
    bench.writes(changed);
    const job = bench.job();
    const outcome = await bench.run(job);
    const { artifactUri } = bench.bundle.bundle;
    const before = [bench.sessions.sent.length, await bench.bytes()];
    const gone = {
      workspacesDir: join(bench.workspacesDir, 'elsewhere'),
      cli: { binary: '/nowhere' },
    };
    expect(await bench.run(job, { spec: gone })).toEqual(outcome);
    expect(artifactUri).toContain('file:');
    expect([bench.sessions.sent.length, await bench.bytes()]).toEqual(before);
    await expect(readFile(gone.workspacesDir)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('without a directive is one conversation of its own, of which nothing stays', async () => {
    const bench = await codingBench();
    const outcome = await bench.run(bench.job('ephemeral'));
    expect(outcome).toMatchObject({ outcome: 'no-change' });
    expect(outcome.thread).toBeUndefined();
    expect(await bench.threads.inspect(place)).toBeUndefined();
    expect(await readdir(bench.workspacesDir)).toEqual([]);
    expect(bench.sessions.closes).toEqual([{ archive: true, stateDir: expect.any(String) }]);
  });

  it('tells the people how it ran, and nothing that anybody wrote', async () => {
    const bench = await codingBench(TOMBSTONE);
    const { evidence } = await bench.run(bench.job({}, { nativeModel: 'model-a' }));
    expect(evidence).toEqual({
      adapterId: TOMBSTONE,
      adapterVersion: expect.any(String),
      adapterProtocolVersion: 'claude-cli-stream-json-v1',
      permissionSource: 'agent-policy',
      permissionMode: 'dontAsk',
      nativeId: expect.any(String),
      nativeModel: 'model-a',
      turnId: expect.any(String),
      enforcement: 'cli',
      unenforced: expect.any(Array),
    });
    expect(JSON.stringify(bench.progress)).not.toContain('Build it.');
  });

  it('is confined by a namespace only where its CLI has a home of its own, and says so', async () => {
    const bench = await codingBench(TOMBSTONE);
    const bubblewrap = '/usr/bin/bwrap';
    const free = await bench.run(bench.job('ephemeral'), { spec: { bubblewrap } });
    expect(free.evidence).toMatchObject({ enforcement: 'cli' });
    const cli = { cliHome: '/homes/implement' };
    const confined = await bench.run(bench.job('ephemeral'), { spec: { bubblewrap, cli } });
    expect(confined.evidence).toMatchObject({ enforcement: 'namespace' });
  });

  it('tells its steps in their order, and ends its CLI last', async () => {
    const bench = await codingBench();
    await bench.run(bench.job());
    const steps = bench.progress.flatMap((told) => (told.type === 'step' ? [told.step] : []));
    expect(steps).toEqual([
      ...['validate_spec', 'open_thread', 'check_bundle', 'stage_bundle', 'rebuild_workspace'],
      ...['prepare_native', 'claim', 'start_native', 'run_turn', 'validate_result'],
      ...['report_patch', 'commit', 'end_native'],
    ]);
    expect(bench.sessions.closes).toHaveLength(1);
  });
});
