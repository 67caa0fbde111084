import { execFileSync, spawn } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TimedOutError } from '../../errors/turn-error.js';
import { observePid, readProcessStartTime } from '../../state/process-identity.js';
import type { FoundProcess } from '../../state/process-tree.js';
import { systemClock } from '../../time/clock.js';
import { waitUntil } from '../../time/wait-until.js';
import type { SessionContext } from '../session-transport.js';
import { streamFiles } from './stream-files.js';
import { writeLine } from './write-line.js';

let filesDir: string;
let context: SessionContext;
const process = { pid: 0, startTime: '0' };

beforeEach(() => {
  filesDir = mkdtempSync(join(tmpdir(), 'holdfast-line-'));
  context = { filesDir, clock: systemClock } as SessionContext;
});

afterEach(() => rmSync(filesDir, { recursive: true }));

describe('writeLine', () => {
  it('says so when no process reads', async () => {
    expect(await writeLine(context, process, '{}')).toBe('no_process');
    execFileSync('mkfifo', [streamFiles(context).input]);
    expect(await writeLine(context, process, '{}')).toBe('no_process');
  });

  it('writes lines longer than the pipe whole, each begun anew, and never ends the input', async () => {
    const { input, output } = streamFiles(context);
    execFileSync('mkfifo', [input]);
    const from = openSync(input, constants.O_RDWR);
    const to = openSync(output, 'a');
    const reader = spawn('cat', [], { stdio: [from, to, 'ignore'] });
    closeSync(from);
    closeSync(to);
    const long = 'x'.repeat(3_000_000);
    expect(await writeLine(context, process, long)).toBe('written');
    expect(await writeLine(context, process, 'short')).toBe('written');
    const expected = `\n${long}\n\nshort\n`;
    await waitUntil(() => readFileSync(output, 'utf8').length === expected.length, {
      awaiting: 'the lines to arrive',
      deadlineMs: 20_000,
    });
    expect(readFileSync(output, 'utf8')).toBe(expected);
    expect(reader.exitCode).toBeNull();
    reader.kill('SIGKILL');
    await new Promise((resolve) => reader.once('exit', resolve));
    expect(await writeLine(context, process, 'late')).toBe('no_process');
  });

  it('ends a process whose input is gone, since nothing can be said to it', async () => {
    const deaf = await startDeaf();

    expect(await writeLine(context, deaf, '{}')).toBe('no_process');
    expect(observePid(deaf.pid, deaf.startTime)).toBe('dead');
  });

  it.each([
    ['the caller gives up', { signal: AbortSignal.abort(new TypeError('no more')) }, TypeError],
    ['the deadline is missed', { deadlineMs: 1 }, TimedOutError],
  ])('ends a process that has half of a line when %s', async (_when, limits, error) => {
    const { input } = streamFiles(context);
    execFileSync('mkfifo', [input]);
    // Open and never read, as by a process that was stopped.
    const held = openSync(input, constants.O_RDWR);
    const deaf = await startDeaf();
    try {
      const line = 'x'.repeat(200_000);
      await expect(writeLine(context, deaf, line, limits)).rejects.toBeInstanceOf(error);
      expect(observePid(deaf.pid, deaf.startTime)).toBe('dead');
    } finally {
      closeSync(held);
    }
  });
});

async function startDeaf(): Promise<FoundProcess> {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' });
  await new Promise((resolve) => child.once('spawn', resolve));
  const pid = child.pid ?? 0;
  return { pid, startTime: readProcessStartTime(pid) ?? '' };
}
