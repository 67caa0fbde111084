import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { StreamSign } from '../../spec/stream-process.js';
import { readFrame } from './stream-frames.js';

const streams = new URL('./__fixtures__/streams/', import.meta.url);
const versions = ['2.1.197', '2.1.332'];

function readLines(version: string, kind: 'frames' | 'record'): readonly unknown[] {
  const path = new URL(`every-outcome.${version}.${kind}.jsonl`, streams);
  return readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line));
}

const read = (version: string) => readLines(version, 'frames').flatMap(readFrame);

describe('readFrame', () => {
  it.each(versions)(
    'names, before each end of a turn, a row that the record holds (%s)',
    (version) => {
      const rows = JSON.stringify(readLines(version, 'record'));
      let last: string | undefined;
      const closed: string[] = [];
      for (const sign of read(version)) {
        if (sign.type === 'row') last = sign.rowId;
        if (sign.type === 'turn_over' && last !== undefined) closed.push(last);
      }
      expect(closed.length).toBeGreaterThanOrEqual(8);
      for (const id of closed) expect(rows).toContain(id);
    },
  );

  it.each(versions)('tells how the turns of %s ended that somebody asked for', (version) => {
    const ends = read(version).flatMap((sign) => {
      if (sign.type !== 'record') return [];
      const { event } = sign;
      if (event.type === 'turn_ended') return [event.answer];
      return event.type === 'turn_failed'
        ? [event.reason]
        : event.type === 'turn_interrupted'
          ? [event.type]
          : [];
    });
    expect(ends).toEqual([
      'Heard: hello (message 1)',
      'done',
      'slow answer',
      expect.stringMatching(/^Heard: after it/),
      'turn_interrupted',
      'overloaded',
      'started',
      expect.any(String),
      expect.stringMatching(/^Heard: last/),
    ]);
  });

  it.each(versions)('ends with nothing at work, and idle (%s)', (version) => {
    const tasks = new Set<string>();
    let most = 0;
    let activity: StreamSign | undefined;
    for (const sign of read(version)) {
      if (sign.type === 'task_began') tasks.add(sign.taskId);
      if (sign.type === 'task_ended') tasks.delete(sign.taskId);
      if (sign.type === 'activity') activity = sign;
      most = Math.max(most, tasks.size);
    }
    expect([most, tasks.size]).toEqual([1, 0]);
    expect(activity).toEqual({ type: 'activity', activity: 'idle' });
  });

  it.each(versions)('tells the mode, the folder and the session of each turn (%s)', (version) => {
    const began = read(version).filter(({ type }) => type === 'turn_began');
    expect(began.length).toBeGreaterThanOrEqual(8);
    for (const sign of began) {
      expect(sign).toMatchObject({
        nativeSessionId: '5f0c1e3a-0000-4000-8000-000000000001',
        workingDir: '/work',
        model: 'claude-sonnet-4-5',
        permissions: 'edit',
      });
    }
  });

  it('leaves out what a subagent says', () => {
    const message = { content: [{ type: 'text', text: 'inside' }] };
    const frame = { type: 'assistant', uuid: 'a', message };
    expect(readFrame({ ...frame, parent_tool_use_id: null })).toHaveLength(2);
    expect(readFrame({ ...frame, parent_tool_use_id: 'call' })).toEqual([]);
  });

  it('takes a mode it does not know for the loosest, and no JSON for nothing', () => {
    const frame = { type: 'system', subtype: 'init', session_id: 's', permissionMode: 'auto' };
    expect(readFrame(frame)).toMatchObject([{ type: 'turn_began', permissions: 'full' }]);
    expect(readFrame(undefined)).toEqual([]);
  });

  it('tells a request that was granted from one that was not', () => {
    const answer = (subtype: string, response?: object) =>
      readFrame({ type: 'control_response', response: { subtype, request_id: 'r', response } });
    expect(answer('success')).toEqual([{ type: 'answer', requestId: 'r', isDone: true }]);
    expect(answer('success', { cancelled: false })).toMatchObject([{ isDone: false }]);
    expect(answer('error')).toMatchObject([{ isDone: false }]);
  });
});
