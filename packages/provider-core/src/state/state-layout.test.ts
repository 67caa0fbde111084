import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { defaultStateDir, isPathPart, leaseDir, stateLayout } from './state-layout.js';

describe('stateLayout', () => {
  it('keeps everything of a session below its own folder', () => {
    const layout = stateLayout('/state');
    const folder = layout.sessionDir('claude-code', 'abc');
    for (const path of [
      layout.launchRecord('claude-code', 'abc'),
      layout.turnJournal('claude-code', 'abc', 't1'),
      layout.turnEvents('claude-code', 'abc', 't1'),
      layout.filesDir('claude-code', 'abc'),
    ]) {
      expect(path.startsWith(`${folder}/`)).toBe(true);
    }
  });

  it.each(['', '.', '..', '../x', 'a/b', 'a\0b', 'ä', 'a b', 'x'.repeat(201)])(
    'refuses %j as an id',
    (id) => {
      const layout = stateLayout('/state');
      expect(isPathPart(id)).toBe(false);
      expect(() => layout.sessionDir('claude-code', id)).toThrow(TypeError);
      expect(() => layout.sessionDir(id, 'abc')).toThrow(TypeError);
      expect(() => layout.turnJournal('claude-code', 'abc', id)).toThrow(TypeError);
      expect(() => layout.startFile(id)).toThrow(TypeError);
      expect(() => leaseDir('/home', id)).toThrow(TypeError);
    },
  );

  it('names a socket of 100 bytes at most, the same for the same root', () => {
    const short = stateLayout('/state').tmuxSocket;
    expect(short).toMatch(/^\/state\/run\/[0-9a-f]{8}\.s$/);
    for (const root of [`/${'long/'.repeat(40)}`, `/${'ä'.repeat(60)}`]) {
      const socket = stateLayout(root).tmuxSocket;
      expect(Buffer.byteLength(socket)).toBeLessThanOrEqual(100);
      expect(socket).toMatch(/\/holdfast-\d+\/[0-9a-f]{8}\.s$/);
      expect(stateLayout(root).tmuxSocket).toBe(socket);
      expect(socket).not.toBe(short);
    }
    expect(stateLayout(`/${'long/'.repeat(40)}`).tmuxSocket.startsWith(tmpdir())).toBe(true);
  });

  it('puts leases beside the store of the CLI', () => {
    expect(leaseDir('/home/cli', 'abc')).toBe('/home/cli/.holdfast/leases/abc');
  });

  it('follows XDG_STATE_HOME', () => {
    const before = process.env['XDG_STATE_HOME'];
    process.env['XDG_STATE_HOME'] = '/xdg';
    expect(defaultStateDir()).toBe('/xdg/holdfast');
    if (before === undefined) delete process.env['XDG_STATE_HOME'];
    else process.env['XDG_STATE_HOME'] = before;
  });
});
