import { once } from 'node:events';
import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { waitUntil } from '@holdfast/agent';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { defineWorkflow } from '../workflow/workflow-definition.js';
import { type BuilderMachine, createBuilderMachine } from './__fixtures__/builder-machine.js';
import {
  type BuilderProcesses,
  bundleBuilder,
  endOf,
  killHard,
} from './__fixtures__/builder-process.js';

const whole = defineWorkflow({
  id: 'whole',
  steps: [
    {
      id: 'draft',
      agent: 'coder',
      prompt: ({ iteration }) => `write ${iteration}`,
      kbReview: { prompt: ({ iteration }) => `review ${iteration}` },
      learning: { mode: 'agent', prompt: ({ iteration }) => `learn ${iteration}` },
    },
  ],
});

const RUNS = ['r0', 'r1', 'r2', 'r3'];
const messagesOf = (run: string) => [`write ${run}`, `review ${run}`, `learn ${run}`];

describe('two builders of one process on one data directory', () => {
  let machine: BuilderMachine;
  beforeEach(async () => {
    machine = await createBuilderMachine();
  });
  afterEach(() => machine.dispose());

  it('run what both are asked for once, and tell of it once in the session', async () => {
    await using one = await machine.build({ workflows: [whole] });
    await using other = await machine.build({ workflows: [whole] });
    const chat = await one.chats.open({ agent: 'coder', chatId: 'boss' });
    const notify = { kind: 'chat', chatId: chat.chatId } as const;
    const start = (builder: typeof one, iteration: string) =>
      builder.workflows.start({ workflow: 'whole', iteration, notify });
    const begun = await Promise.all(RUNS.flatMap((run) => [start(one, run), start(other, run)]));
    const posts = [0, 1, 2, 3].flatMap((number) => [
      one.chats.post('boss', `one ${number}`, { policy: 'queue' }),
      other.chats.post('boss', `other ${number}`, { policy: 'queue' }),
    ]);
    await Promise.all(posts);
    const views = await Promise.all(begun.map((run) => run.wait()));
    expect(views.map(({ outcome }) => outcome)).toEqual(Array(8).fill('completed'));
    // A step is told of, and the run.
    const news = 2 * RUNS.length;
    const wanted = [
      ...RUNS.flatMap(messagesOf),
      ...[0, 1, 2, 3].flatMap((number) => [`one ${number}`, `other ${number}`]),
    ].sort();
    const sent = () => machine.sessions.userMessages();
    await waitUntil(() => sent().length >= wanted.length + news, {
      awaiting: 'every message and every notification',
      deadlineMs: 40_000,
    });
    const told = sent().filter((text) => text.startsWith('[AUTO-NOTIFICATION]'));
    expect(new Set(told).size).toBe(news);
    expect(told).toHaveLength(news);
    expect(
      sent()
        .filter((text) => !told.includes(text))
        .sort(),
    ).toEqual(wanted);
    await waitUntil(async () => (await one.notifications.list({ state: 'pending' })).length === 0, {
      awaiting: 'the outbox to be empty',
      deadlineMs: 20_000,
    });
    expect(await one.workflows.learningLock()).toMatchObject({ state: 'free', waiting: [] });
    expect((await chat.view()).turns.map(({ state }) => state)).toEqual(
      Array(8 + news).fill('completed'),
    );
  });
});

describe('builders of several processes on one data directory', () => {
  let processes: BuilderProcesses;
  let dir = '';
  beforeAll(async () => {
    processes = await bundleBuilder();
  }, 120_000);
  afterAll(() => processes[Symbol.asyncDispose]());
  beforeEach(async () => {
    dir = await mkdtemp(join(processes.folder, 'case-'));
  });

  const SERVICE = `
    const text = (word) => ({ iteration }) => word + ' ' + iteration;
    const whole = defineWorkflow({ id: 'whole', steps: [{ id: 'draft', agent: 'coder', prompt: text('write'),
      kbReview: { prompt: text('review'), apply: () => underLock() },
      learning: { mode: 'agent', prompt: text('learn') } }] });
    // A file that is made anew by each holder: two at once would find it there.
    const underLock = async () => {
      const { openSync, closeSync, unlinkSync } = await import('node:fs');
      closeSync(openSync(dir + '/world/held', 'wx'));
      for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
      unlinkSync(dir + '/world/held');
    };
    const builder = await createBuilder(makeOptions({ workflows: [whole] }));
  `;
  const WORK = `${SERVICE}
    const chat = await builder.chats.open({ agent: 'coder', chatId: 'boss' });
    const notify = { kind: 'chat', chatId: 'boss' };
    const runs = await Promise.all(args.slice(1).map((iteration) =>
      builder.workflows.start({ workflow: 'whole', iteration, notify })));
    for (const number of [0, 1]) await chat.post(args[0] + ' ' + number, { policy: 'queue' });
    const outcomes = (await Promise.all(runs.map((run) => run.wait()))).map(({ outcome }) => outcome);
    const isQuiet = async () => (await builder.notifications.list({ state: 'pending' })).length === 0 &&
      (await builder.notifications.list()).length === 2 * runs.length &&
      (await chat.view()).turns.filter(({ state }) => state === 'completed').length >= 4 + 2 * runs.length;
    await waitUntil(isQuiet, { awaiting: 'every notification and turn', deadlineMs: 100_000 });
    say(outcomes.join(' '));
    await builder.close();
  `;

  const readLog = async () => {
    const text = await readFile(join(dir, 'world', 'log'), 'utf8');
    return text.trim().split('\n');
  };
  /** The first line of each message that was taken in, as often as it was. */
  const listAccepted = async () =>
    (await readLog()).flatMap((line) => {
      const [what, , , ...text] = line.split(' ');
      return what === 'accepted' ? [String(JSON.parse(text.join(' ')))] : [];
    });

  it('run each phase once and never two turns of a session at once', async () => {
    const ended = await Promise.all(
      ['a', 'b'].map(async (name) => await endOf(await processes.start(WORK, dir, name, ...RUNS))),
    );
    const said = `${RUNS.map(() => 'completed').join(' ')}\n`;
    expect(ended).toEqual([
      { said, end: 0 },
      { said, end: 0 },
    ]);
    expect((await readLog()).filter((line) => line.startsWith('overlap'))).toEqual([]);
    const texts = await listAccepted();
    const news = texts.filter((text) => text.startsWith('[AUTO-NOTIFICATION]'));
    expect(new Set(news).size).toBe(news.length);
    expect(news).toHaveLength(2 * RUNS.length);
    expect(texts.filter((text) => !news.includes(text)).sort()).toEqual(
      [...RUNS.flatMap(messagesOf), 'a 0', 'a 1', 'b 0', 'b 1'].sort(),
    );
  }, 120_000);

  it('go on with what one of them was in the middle of when it was killed, with nothing asked of them', async () => {
    const HOLD = SERVICE.replace(
      'apply: () => underLock()',
      "apply: () => { say('in the middle'); return new Promise(() => setInterval(() => {}, 1000)); }",
    );
    const doomed = await processes.start(
      `${HOLD} await builder.workflows.start({ workflow: 'whole', iteration: 'r0' });`,
      dir,
    );
    if (!doomed.stdout) throw new TypeError('it has no output');
    await once(doomed.stdout, 'data');
    const peer = await processes.start(
      `${SERVICE}
       say('ready');
       const run = await builder.workflows.get({ iteration: 'r0', group: 'main' });
       say((await run.wait()).outcome);
       say((await builder.workflows.learningLock()).state);
       await builder.close();`,
      dir,
    );
    if (!peer.stdout) throw new TypeError('it has no output');
    const peerEnd = endOf(peer);
    await once(peer.stdout, 'data');
    await killHard(doomed);
    expect(await peerEnd).toEqual({ said: 'ready\ncompleted\nfree\n', end: 0 });
    expect(await listAccepted()).toEqual(messagesOf('r0'));
  }, 120_000);
});
