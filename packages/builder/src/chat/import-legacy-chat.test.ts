import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemorySessions } from '../__fixtures__/memory-sessions.js';
import { type Builder, createBuilder } from '../create-builder.js';

const fixture = fileURLToPath(
  new URL('../__fixtures__/v1/legacy-conversation.json', import.meta.url),
);

let root = '';
let file = '';
let sessions = new MemorySessions();
let builder: Builder;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-legacy-'));
  file = join(root, 'session-legacy-1-conversation.json');
  await cp(fixture, file);
  sessions = new MemorySessions();
  builder = await createBuilder({
    dataDir: join(root, 'data'),
    agents: {
      coder: {
        provider: 'claude-code',
        workingDir: '/project',
        stateDir: join(root, 'state'),
        sessions,
      },
    },
  });
});
afterEach(() => rm(root, { recursive: true, force: true }));

describe('importLegacyChat', () => {
  it('restores every field of the record', async () => {
    const chat = await builder.chats.importLegacyChat(file, { agent: 'coder' });
    const view = await chat.view();
    expect(view.chatId).toBe('legacy-1');
    expect(view.messages).toEqual([
      { role: 'system', text: 'Be brief.' },
      { role: 'user', text: 'Remember heron.' },
      { role: 'assistant', text: 'Noted.' },
      { role: 'tool', text: 'ok' },
      { role: 'user', text: 'Again?' },
    ]);
    expect(view.legacy).toMatchObject({
      sessionId: 'legacy-1',
      agentMode: 'coder',
      workshopMode: 'plan',
      updatedAt: '2025-11-02T03:04:05.123456789Z',
      runtime: {
        kind: 'coding_agent',
        provider: 'claude-code',
        modelId: 'model-1',
        resumeSupported: true,
        resumeFlag: '--resume',
        workspacePath: '/project',
        capturedAt: '2025-11-02T03:04:05Z',
        serverName: 'files',
        selectedTools: ['read', 'write'],
      },
      terminalSnapshots: [{ terminal_id: 'legacy-1:main:legacy-1' }],
      uiEvents: [{ type: 'user_message' }],
    });
    expect(view.handle?.provider).toEqual({
      provider: 'claude-code',
      transport: 'tmux',
      nativeSessionId: 'native-1',
      projectDirId: 'p-1',
      model: 'model-1',
    });
    expect(JSON.stringify(view)).toBe(JSON.stringify(await chat.view()));
  });

  it('continues the session that the record names, owned by the chat', async () => {
    const native = 'native-1';
    sessions.world.sessions.set(native, {
      nativeId: native,
      workingDir: '/project',
      messages: [],
      turns: new Map(),
      acknowledged: true,
      status: 'idle',
      revision: 1,
      terminal: 0,
    });
    const chat = await builder.chats.importLegacyChat(file, { agent: 'coder' });
    const result = await chat.send('And now?');
    expect(result.handle).toMatchObject({ sessionId: 'legacy-1', ownerId: 'legacy-1' });
    expect(sessions.sent.map(({ kind }) => kind)).toEqual(['continue']);
    expect((await chat.view()).messages.map(({ text }) => text).slice(-2)).toEqual([
      'And now?',
      'answer to And now?',
    ]);
  });

  it('gives the same chat when it is done twice, and leaves the file as it was', async () => {
    const before = await readFile(file, 'utf8');
    await builder.chats.importLegacyChat(file, { agent: 'coder' });
    await builder.chats.importLegacyChat(file, { agent: 'coder' });
    expect(await builder.chats.list()).toHaveLength(1);
    expect(await readFile(file, 'utf8')).toBe(before);
  });

  it.each([
    ['no native id', { runtime: { kind: 'coding_agent', provider: 'claude-code' } }],
    ['no runtime', {}],
  ])('never starts a fresh session for a record with %s', async (_what, rest) => {
    await writeFile(
      file,
      JSON.stringify({ session_id: 'legacy-2', conversation_history: [], ...rest }),
    );
    const chat = await builder.chats.importLegacyChat(file, { agent: 'coder' });
    await expect(chat.send('And now?')).rejects.toMatchObject({
      kind: 'non_continuable',
      missing: 'native_session_id',
    });
    expect(sessions.sent).toEqual([]);
    expect((await chat.view()).status).toBe('idle');
  });

  it('sets a damaged file aside, reports it, and never overwrites it', async () => {
    await writeFile(file, '{"session_id":"legacy-1","conversation_hist');
    await expect(builder.chats.importLegacyChat(file, { agent: 'coder' })).rejects.toMatchObject({
      kind: 'state_unusable',
      reason: 'damaged',
    });
    expect(await readdir(root)).toContain('session-legacy-1-conversation.json.damaged-1');
    expect(await builder.chats.list()).toEqual([]);
  });

  it('reports a file that is not there', async () => {
    const missing = join(root, 'nothing.json');
    await expect(builder.chats.importLegacyChat(missing, { agent: 'coder' })).rejects.toMatchObject(
      {
        kind: 'state_unusable',
        reason: 'unreadable',
      },
    );
  });
});
