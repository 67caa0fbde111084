import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claudeCode } from '../../providers/claude-code/index.js';
import type { SessionContext } from '../session-transport.js';
import { readSessionRecord, takeRecordCursor } from './read-session-record.js';

const way = claudeCode.transports.tmux;
if (way?.kind !== 'typed_pane') throw new Error('unreachable: it is typed');
const nativeSessionId = '0e1f2a3b-0000-4000-8000-000000000001';
let cliHome: string;
let path: string;
let context: SessionContext;

const row = (uuid: string, content: string, parentUuid: string | null = null) =>
  `${JSON.stringify({ type: 'user', uuid, parentUuid, message: { content } })}\n`;

beforeEach(() => {
  cliHome = mkdtempSync(join(tmpdir(), 'holdfast-record-'));
  mkdirSync(join(cliHome, 'projects', '-work'), { recursive: true });
  path = join(cliHome, 'projects', '-work', `${nativeSessionId}.jsonl`);
  context = { cliHome, nativeSessionId } as SessionContext;
});

afterEach(() => rmSync(cliHome, { recursive: true }));

const texts = async (since?: Parameters<typeof readSessionRecord>[2]) => {
  const reading = await readSessionRecord(way, context, since);
  if (reading.state !== 'readable') return reading.state;
  return reading.events.map((event) => ('text' in event ? event.text : event.type));
};

describe('readSessionRecord', () => {
  it('tells a record that is not there from one that is', async () => {
    expect(await texts()).toBe('absent');
    writeFileSync(path, row('a', 'one'));
    expect(await texts()).toEqual(['one']);
  });

  it('reads from the cursor on, also when there was no record yet', async () => {
    const none = await takeRecordCursor(way, context);
    writeFileSync(path, row('a', 'one'));
    const some = await takeRecordCursor(way, context);
    appendFileSync(path, row('b', 'two', 'a'));
    expect(await texts(none)).toEqual(['one', 'two']);
    expect(await texts(some)).toEqual(['two']);
    expect(some.lastRecordId).toBe('a');
  });

  it('takes the cursor at the end of a line, so that a torn line is not read as two', async () => {
    writeFileSync(path, `${row('a', 'one')}{"type":"us`);
    const cursor = await takeRecordCursor(way, context);
    appendFileSync(path, `er","uuid":"b","parentUuid":null,"message":{"content":"two"}}\n`);
    expect(await texts(cursor)).toEqual(['two']);
  });

  it('B35: reads on past NUL bytes and garbage', async () => {
    const damage = `${'\0'.repeat(64)}\ngarbage\n{"type":"us\n`;
    writeFileSync(path, row('a', 'one') + damage + row('b', 'two', 'a'));
    expect(await texts()).toEqual(['one', 'two']);
  });

  it('trusts no record that is shorter, replaced, gone, or there twice', async () => {
    writeFileSync(path, row('a', 'one') + row('b', 'two', 'a'));
    const cursor = await takeRecordCursor(way, context);
    writeFileSync(path, row('a', 'one'));
    expect(await texts(cursor)).toBe('untrustworthy');
    writeFileSync(`${path}.new`, row('a', 'one') + row('b', 'two', 'a'));
    renameSync(`${path}.new`, path);
    expect(await texts(cursor)).toBe('untrustworthy');
    mkdirSync(join(cliHome, 'projects', '-other'));
    writeFileSync(join(cliHome, 'projects', '-other', `${nativeSessionId}.jsonl`), row('a', 'one'));
    expect(await texts()).toBe('untrustworthy');
    rmSync(path);
    expect(await texts(cursor)).toBe('untrustworthy');
  });
});
