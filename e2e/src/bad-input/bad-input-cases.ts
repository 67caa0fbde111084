import assert from 'node:assert/strict';
import { appendFile, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expectError, type HandleJson } from '@holdfast/provider-core/certification';
import type { RealSubject } from '../harness/real-subject.js';

/** One bad input: what is given, and the typed error that names it. */
export interface BadInputCase {
  readonly name: string;
  /** `handle` is a session that works; it must still work afterwards. */
  readonly run: (subject: RealSubject, handle: HandleJson) => Promise<void>;
}

const hello = 'Are you there?';

const badHandles: readonly BadInputCase[] = [
  {
    name: 'a handle without an id',
    run: (subject, handle) =>
      expectError(
        subject.continue(subject.withProviderFields(handle, { native_session_id: '' }), hello),
        'non_continuable',
        { missing: 'native_session_id' },
      ),
  },
  {
    name: "another provider's id",
    run: async (subject, handle) => {
      const provider = subject.provider === 'codex-cli' ? 'claude-code' : 'codex-cli';
      const stranger = subject.withProviderFields(handle, { provider });
      await expectError(subject.continue(stranger, hello), 'non_continuable', {
        missing: 'launch_record',
      });
    },
  },
  {
    name: 'an unknown transport',
    run: (subject, handle) =>
      expectError(
        subject.continue(subject.withProviderFields(handle, { transport: 'telepathy' }), hello),
        'non_continuable',
        { missing: 'transport' },
      ),
  },
  {
    name: 'a relative working directory',
    run: (subject, handle) =>
      expectError(
        subject.continue(subject.withProviderFields(handle, { working_dir: 'work' }), hello),
        'non_continuable',
        { missing: 'working_dir' },
      ),
  },
  {
    name: 'a vanished working directory',
    run: async (subject, handle) => {
      const aside = `${subject.workingDir}-aside`;
      await rename(subject.workingDir, aside);
      try {
        await expectError(subject.continue(handle, hello), 'cli_unusable', {
          reason: 'working_dir_missing',
          subject: subject.workingDir,
        });
      } finally {
        await rename(aside, subject.workingDir);
      }
    },
  },
];

const badMessages: readonly BadInputCase[] = [
  {
    name: 'a message of 10 MB',
    run: (subject, handle) =>
      expectError(
        subject.continue(handle, 'ten megabytes '.repeat(750_000)),
        'undeliverable_message',
      ),
  },
  {
    name: 'an empty message',
    run: (subject, handle) => expectError(subject.continue(handle, ''), 'undeliverable_message'),
  },
];

const badMachines: readonly BadInputCase[] = [
  {
    name: 'a read-only state directory',
    run: (subject, handle) => expectUnusableState(subject, handle, 'EROFS', 'read_only'),
  },
  {
    name: 'B44: a full state directory',
    run: (subject, handle) => expectUnusableState(subject, handle, 'ENOSPC', 'full'),
  },
  { name: 'a torn journal line', run: continuesOverTornLine },
  {
    name: 'a CLI that is not installed',
    run: (subject) =>
      expectError(
        subject.start(hello, { config: { binary: '/nonexistent/cli' } }),
        'cli_unusable',
        { reason: 'missing', subject: '/nonexistent/cli' },
      ),
  },
  {
    name: 'a CLI that exits at once',
    run: async (subject) => {
      const binary = join(subject.place.root, 'exits-at-once');
      const script = '#!/bin/sh\n[ "$1" = --version ] && exec echo 9.9.9\nexit 3\n';
      await writeFile(binary, script, { mode: 0o755 });
      await expectError(subject.start(hello, { config: { binary } }), 'cli_unusable', {
        reason: 'exited',
      });
    },
  },
];

/** Every bad input of the list. */
export const badInputCases: readonly BadInputCase[] = [
  ...badHandles,
  ...badMessages,
  ...badMachines,
];

function expectUnusableState(
  subject: RealSubject,
  handle: HandleJson,
  code: string,
  reason: string,
): Promise<void> {
  const turn = subject.begin(handle, hello, {
    env: { HOLDFAST_FAIL_WRITES: `${code}:${subject.place.stateDir}` },
  });
  return expectError(turn.finished, 'state_unusable', { reason });
}

async function continuesOverTornLine(subject: RealSubject, handle: HandleJson): Promise<void> {
  const turnId = crypto.randomUUID();
  const { answer } = await subject.continue(handle, 'Say it once.', { turnId });
  const entries = await readdir(subject.place.stateDir, { recursive: true });
  const journal = entries.find((entry) => entry.endsWith(`${turnId}.journal.jsonl`));
  assert.ok(journal, 'the journal of the turn');
  await appendFile(join(subject.place.stateDir, journal), '{"step":"acc');
  const again = await subject.continue(handle, 'Say it once.', { turnId });
  assert.equal(again.answer, answer);
}
