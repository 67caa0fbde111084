import { describe, expect, it } from 'vitest';
import { findRefusal } from './delivery.js';
import { codexProtocol } from './protocol.js';
import { isCompressedRollout, isRollout, rolloutFolders } from './rollout-place.js';

const THREAD = '01a227a1-e057-7fb1-a161-55c0d9c20824';

describe('an answer of the app-server', () => {
  it('tells the server’s own version after the client’s name', () => {
    const userAgent = 'holdfast/0.171.0 (Debian 12.0.0; x86_64) xterm-256color (holdfast; 1)';

    expect(codexProtocol.readServer({ userAgent })).toEqual({ version: '0.171.0' });
  });

  it.each([
    ['readOnly', 'never', 'read_only'],
    ['readOnly', 'on-request', 'read_only'],
    ['workspaceWrite', 'on-request', 'ask'],
    ['workspaceWrite', 'untrusted', 'ask'],
    ['workspaceWrite', { granular: {} }, 'ask'],
    ['workspaceWrite', 'never', 'edit'],
    ['dangerFullAccess', 'never', 'full'],
    ['externalSandbox', 'never', 'full'],
    ['somethingNew', 'never', undefined],
  ])('reads the sandbox %s with approvals %j as %s', (type, approvalPolicy, permissions) => {
    const thread = { id: THREAD, path: '/r.jsonl', status: { type: 'idle' } };
    const result = { thread, model: 'm', cwd: '/w', approvalPolicy, sandbox: { type } };

    expect(codexProtocol.readOpenedSession(result)).toEqual({
      nativeSessionId: THREAD,
      recordPath: '/r.jsonl',
      permissions,
      model: 'm',
      workingDir: '/w',
      activity: 'idle',
    });
  });

  it('is no session when it has another shape', () => {
    expect(codexProtocol.readOpenedSession({ thread: {} })).toBeUndefined();
    expect(codexProtocol.readTurns(undefined)).toEqual([]);
    expect(codexProtocol.readActivity(null)).toBe('unknown');
  });

  it.each([
    [`thread ${THREAD} already has an active writer`, 'held_elsewhere'],
    [`session ${THREAD} is archived. Run \`codex unarchive ${THREAD}\` first.`, 'archived'],
    [`no rollout found for thread id ${THREAD}`, 'no_record'],
    ['queued submission not found: 1', 'not_queued'],
    ['thread already has an active or pending turn', 'already_running'],
    ['something new', 'other'],
  ])('refused with %j means %s', (message, refusal) => {
    expect(codexProtocol.readRefusal({ code: -32600, message })).toBe(refusal);
  });

  it('that names a missing model provider is told by its data', () => {
    const data = { type: 'modelProviderNotConfigured', modelProvider: 'gone' };

    expect(codexProtocol.readRefusal({ code: -32600, message: 'no', data })).toBe(
      'provider_missing',
    );
  });

  it('says who decided on trust: the folder itself or one above it', () => {
    const result = { config: { projects: { '/home/dev/repo': { trust_level: 'trusted' } } } };

    expect(codexProtocol.decidesTrust(result, '/home/dev/repo')).toBe(true);
    expect(codexProtocol.decidesTrust(result, '/home/dev/repo/deep')).toBe(true);
    expect(codexProtocol.decidesTrust(result, '/home/dev/repository')).toBe(false);
    expect(codexProtocol.decidesTrust({}, '/home/dev/repo')).toBe(false);
  });
});

describe('a notification', () => {
  const read = (method: string, params: object) =>
    codexProtocol.readFrame(method, { threadId: THREAD, ...params });

  it('of a command that ended tells it with its exit code, where it has one', () => {
    const item = { type: 'commandExecution', id: 'c1', command: "bash -lc 'npm test'" };
    const end = (exitCode: number | null) =>
      read('item/completed', { turnId: 't1', item: { ...item, exitCode } }).events;
    const finished = { type: 'tool_finished', name: 'exec_command', callId: 'c1' };

    const { id: callId, command } = item;
    expect(end(2)).toEqual([finished, { type: 'command_finished', callId, command, exitCode: 2 }]);
    expect(end(null)).toEqual([finished]);
  });

  it('tells the turn that begins and the one that ends', () => {
    const turn = { id: 't', status: 'inProgress', items: [], error: null };
    expect(read('turn/started', { turn })).toMatchObject({ runningTurnId: 't', activity: 'busy' });

    const items = [{ type: 'agentMessage', id: 'm', text: 'Done.' }];
    const ended = read('turn/completed', { turn: { ...turn, status: 'completed', items } });
    expect(ended.endedTurnId).toBe('t');
    expect(ended.events).toMatchObject([
      { type: 'turn_ended', answer: 'Done.', nativeTurnId: 't' },
    ]);
  });

  it('gives deltas as partial text and messages as whole', () => {
    expect(
      read('item/agentMessage/delta', { turnId: 't', itemId: 'm', delta: 'He' }).events,
    ).toEqual([{ type: 'text', text: 'He', partial: true }]);
    const item = { type: 'agentMessage', id: 'm', text: 'Hello' };
    expect(read('item/completed', { turnId: 't', item }).events).toEqual([
      { type: 'text', text: 'Hello', partial: false },
    ]);
  });

  it('is waiting when an approval is asked for', () => {
    const status = { type: 'active', activeFlags: ['waitingOnApproval'] };
    expect(read('thread/status/changed', { status }).activity).toBe('waiting');
  });

  it('without a thread says nothing', () => {
    expect(codexProtocol.readFrame('account/updated', {})).toEqual({ events: [] });
    expect(codexProtocol.readFrame('turn/started', undefined)).toEqual({ events: [] });
  });
});

describe('a text', () => {
  it('is taken as it is, up to the limit in characters', () => {
    expect(findRefusal('\t/compact\r\n\u001b ', [])).toBeUndefined();
    expect(findRefusal('😀'.repeat(1_048_576), [])).toBeUndefined();
    expect(findRefusal('😀'.repeat(1_048_577), [])).toMatchObject({ reason: 'too_long' });
  });

  it('that is empty or no Unicode is refused', () => {
    expect(findRefusal('', [])).toMatchObject({ reason: 'empty' });
    expect(findRefusal('a\ud800b', [])).toMatchObject({ reason: 'not_unicode' });
  });
});

describe('the place of a rollout', () => {
  it('is the day in its id first, the days beside it, then everywhere', () => {
    expect(rolloutFolders(THREAD).map(({ path }) => path)).toEqual([
      'sessions/2026/11/29',
      'sessions/2026/11/28',
      'sessions/2026/11/30',
      'archived_sessions',
      'sessions',
    ]);
    expect(rolloutFolders('of-another-kind')).toHaveLength(2);
  });

  it('is known by the file’s name', () => {
    const name = `rollout-2026-11-29T14-07-29-${THREAD}.jsonl`;

    expect(isRollout(name, THREAD)).toBe(true);
    expect(isRollout(`${name}.zst`, THREAD)).toBe(false);
    expect(isCompressedRollout(`${name}.zst`, THREAD)).toBe(true);
    expect(isRollout(name, '01a227a1-e057-7fb1-a161-55c0d9c20825')).toBe(false);
  });
});
