import { describe, expect, it } from 'vitest';
import { temporaryStore } from './__fixtures__/temporary-store.js';
import { chatGroupOf, describeKey, keys } from './keys.js';
import type { StoreKey } from './store.js';
import { checkKey } from './store-key.js';

const run = { iteration: '1', group: 'main' };
const step = { ...run, step: 'draft' };

const hostile = ['..', '.', '', '../../etc', 'a/b', 'a\\b', '/etc', 'a\0b', 'a b', '%2e%2e', 'ä'];

const places: Readonly<Record<string, (id: string) => StoreKey>> = {
  'an iteration': (id) => keys.state({ ...step, iteration: id }),
  'a group': (id) => keys.state({ ...step, group: id }),
  'a step': (id) => keys.state({ ...step, step: id }),
  'the iteration of a list': (id) => keys.iteration(id),
  'the group of a run': (id) => keys.run({ ...run, group: id }),
  'the group of its steps': (id) => keys.steps({ ...run, group: id }),
  'the step of a lane': (id) => keys.lane({ ...step, step: id }),
  'the step of events': (id) => keys.executionEvents({ ...step, step: id }),
  'a chat of events': (id) => keys.chatEvents(id),
  'a chat of a lease': (id) => keys.chatLease(id),
  'an open chat': (id) => keys.openChat(id),
  'a chat of an inbox': (id) => keys.chatInbox(id),
  'a chat of sub-agents': (id) => [chatGroupOf(id)],
  'a queue': (id) => keys.jobs(id),
  'a job': (id) => keys.job('executions', id),
  'the lease of a job': (id) => keys.jobLease('executions', id),
  'a notification': (id) => keys.notification(id),
  'the lease of a notification': (id) => keys.notificationLease(id),
  'a thing of the bridge': (id) => keys.bridge(id),
  'a lock': (id) => keys.lock(id),
  'a coding job': (id) => keys.codingJob(id),
  'the marker of a coding job': (id) => keys.openCodingJob('personal', id),
  'a runner of coding jobs': (id) => keys.openCodingJobs(id),
  'an artifact of a thread': (id) => keys.threadArtifact(id),
};

describe('keys', () => {
  it.each(Object.keys(places))('refuses what leads elsewhere as %s, and names it', (what) => {
    for (const id of hostile) {
      expect(() => places[what]?.(id)).toThrow(TypeError);
      expect(() => places[what]?.(id)).toThrow(JSON.stringify(id));
    }
  });

  it('puts the state of an execution where it was always put', () => {
    expect(keys.state(step).join('/')).toBe('runs/1/main/logs/draft/continuation_state.json');
  });

  it('makes a key of the longest ids, and keeps them apart', async () => {
    const { store } = await temporaryStore();
    const name = 'x'.repeat(80);
    const id = `${name}~${name}~${name}`;
    const all = [
      keys.state({ iteration: name, group: name, step: name }),
      keys.chatEvents('c'.repeat(200)),
      keys.job('executions', id),
      keys.jobLease('executions', id),
      keys.notification(`${id}~completed`),
      keys.notification(`${id}~failed`),
      keys.notification(`${id}~stopped`),
    ];
    for (const key of all) checkKey(key);
    for (const key of all) await store.write(key, key);
    for (const key of all) expect(await store.read(key)).toEqual({ state: 'present', value: key });
  });

  it('gives a chat a group of its own, however long its id is', () => {
    expect(chatGroupOf('chat-1')).toBe('chat-1');
    const [one, other] = [chatGroupOf('c'.repeat(81)), chatGroupOf('c'.repeat(82))];
    expect(one).toMatch(/^c-[0-9a-f]{32}$/);
    expect(one).not.toBe(other);
  });

  it('describes a key by its kind alone', () => {
    expect(describeKey(keys.state(step))).toBe('step/continuation_state.json');
    expect(describeKey([...keys.children(step), '1~main~part.json'])).toBe('step/children');
    expect(describeKey(keys.run(run))).toBe('run/run.json');
    expect(describeKey(keys.chatEvents('one'))).toBe('chat/events.jsonl');
    expect(describeKey(keys.openChat('one'))).toBe('open-chat');
    expect(describeKey(keys.job('runs', 'one'))).toBe('engine/runs/jobs');
    expect(describeKey(keys.notification('one'))).toBe('notification');
    expect(describeKey(keys.chatInbox('one').concat('1.json'))).toBe('chat/inbox');
    expect(describeKey(keys.lock('shared', 'tickets', '1.json'))).toBe('lock/tickets');
    expect(describeKey(keys.bridge('slots', '1.json'))).toBe('bridge/slots');
    expect(describeKey(keys.thread('0.json'))).toBe('threads');
    expect(describeKey(keys.threadLease('0.json'))).toBe('thread-leases');
    expect(describeKey(keys.openCodingJob('personal', 'one'))).toBe('coding/open');
    expect(describeKey(keys.format())).toBe('FORMAT');
  });
});
