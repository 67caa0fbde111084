import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claudeCode } from '../../providers/claude-code/index.js';
import { systemClock } from '../../time/clock.js';
import { waitUntil } from '../../time/wait-until.js';
import { EventQueue } from '../served-pane/event-queue.js';
import type { FollowedEvent } from '../session-transport.js';
import { announceApprover, withdrawApprover } from './approver.js';
import type { LivePane } from './live-pane.js';
import { answerRequest, watchRequests } from './pane-requests.js';
import { createRunningDelivery, type RunningDelivery } from './running-delivery.js';

const way = claudeCode.transports.tmux;
if (way?.kind !== 'typed_pane') throw new Error('unreachable: it is typed');
let root: string;
let pane: LivePane;
let delivery: RunningDelivery;
let stop: AbortController;
let told: FollowedEvent[];
let watching: Promise<unknown>;

const folder = (id: string) => join(root, 'approvals', id);
const says = (status: string) =>
  writeFileSync(
    join(root, 'sessions', `${process.pid}.json`),
    JSON.stringify({ sessionId: 's', status }),
  );
const ask = (id: string, command: string) => {
  mkdirSync(folder(id), { recursive: true });
  const payload = { tool_name: 'Bash', tool_input: { command } };
  writeFileSync(join(folder(id), 'request.json'), JSON.stringify(payload));
};
const until = (fits: (event: FollowedEvent) => boolean) =>
  waitUntil(() => told.find(fits), { awaiting: 'an event', deadlineMs: 20_000 });
const isRequest = (id: string) => (event: FollowedEvent) =>
  event.kind === 'request' && event.request.requestId === id;
const isSettled = (id: string) => (event: FollowedEvent) =>
  event.kind === 'request_settled' && event.requestId === id;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'holdfast-requests-'));
  mkdirSync(join(root, 'sessions'));
  const context = { filesDir: root, cliHome: root, clock: systemClock };
  const fence = { token: 1, isCurrent: () => true };
  pane = { way, context, pid: process.pid, fence } as unknown as LivePane;
  delivery = createRunningDelivery(0, true, 0);
  stop = new AbortController();
  told = [];
  const queue = new EventQueue<FollowedEvent>();
  const reading = (async () => {
    for await (const event of queue) told.push(event);
  })();
  watching = watchRequests(pane, delivery, queue, stop.signal).then(() => {
    queue.end();
    return reading;
  });
});

afterEach(async () => {
  stop.abort();
  await watching;
  rmSync(root, { recursive: true });
});

describe('requests that wait in a pane', () => {
  it('tells a request, and that a person settled it once its page is gone', async () => {
    says('waiting');
    ask('one', 'true');
    await until(isRequest('one'));
    says('busy');
    expect(await until(isSettled('one'))).toMatchObject({ by: 'person' });
    expect(existsSync(folder('one'))).toBe(false);
    expect(await answerRequest(pane, delivery, 'one', { decision: 'allow' })).toBe('gone');
  });

  it('takes the next request of the conversation for the end of the one before', async () => {
    says('waiting');
    ask('one', 'true');
    await until(isRequest('one'));
    ask('two', 'false');
    await until(isRequest('two'));
    expect(told.some(isSettled('one'))).toBe(true);
    expect(existsSync(folder('two'))).toBe(true);
  });

  it('gives the answer to the relay, and knows that it took it', async () => {
    says('waiting');
    ask('one', 'true');
    await until(isRequest('one'));
    const answering = answerRequest(pane, delivery, 'one', { decision: 'deny', message: 'no' });
    const path = join(folder('one'), 'answer.json');
    await waitUntil(() => existsSync(path), { awaiting: 'the answer', deadlineMs: 20_000 });
    expect(readFileSync(path, 'utf8')).toContain('"behavior":"deny","message":"no"');
    rmSync(folder('one'), { recursive: true });
    expect(await answering).toBe('taken');
    expect(told.some(isSettled('one'))).toBe(false);
  });

  it('answers nothing that is not there', async () => {
    expect(await answerRequest(pane, delivery, '../one', { decision: 'allow' })).toBe('gone');
  });
});

describe('the approver', () => {
  const isThere = () => existsSync(join(root, 'approver'));

  it('stands while somebody answers, and is taken back by that one alone', async () => {
    const first = await announceApprover(way, pane.context, true);
    const second = await announceApprover(way, pane.context, true);
    await withdrawApprover(way, pane.context, first);
    expect(isThere()).toBe(true);
    await withdrawApprover(way, pane.context, second);
    expect(isThere()).toBe(false);
  });

  it('stays while a request waits, until somebody comes who does not answer', async () => {
    const token = await announceApprover(way, pane.context, true);
    ask('one', 'true');
    await withdrawApprover(way, pane.context, token);
    expect(isThere()).toBe(true);
    await announceApprover(way, pane.context, false);
    expect(isThere()).toBe(false);
  });
});
