import { readFile, writeFile } from 'node:fs/promises';
import type { HandleJson, LossDepth } from '@holdfast/provider-core/certification';
import { readGeneration, reviveGeneration } from '../harness/orphan-lease.js';
import { killUntilGone } from '../harness/processes.js';
import type { RealSubject } from '../harness/real-subject.js';
import type { PlantedFault } from './fault-list.js';

/** Changes what happens around the subject, so that its provider looks like one with the fault. */
export function plantInMachine(
  subject: RealSubject,
  fault: NonNullable<PlantedFault['machine']>,
): void {
  plants[fault](subject);
}

const plants: Readonly<Record<NonNullable<PlantedFault['machine']>, (s: RealSubject) => void>> = {
  service_takes_cli_along: (subject) => {
    const { begin } = subject;
    Object.assign(subject, {
      begin: (...call: Parameters<typeof begin>) => {
        const turn = begin(...call);
        const kill = async () => {
          await turn.kill();
          await killUntilGone(subject.livingProcesses);
        };
        return { ...turn, kill };
      },
    });
  },
  fence_is_open: (subject) => {
    const { begin, orphanLease } = subject;
    let reopen = async () => {};
    Object.assign(subject, {
      orphanLease: async (handle: HandleJson) => {
        reopen = await rememberFence(subject, handle);
        await orphanLease(handle);
      },
      begin: (...call: Parameters<typeof begin>) => {
        const turn = begin(...call);
        return { ...turn, thaw: () => void reopen().then(turn.thaw) };
      },
    });
  },
  strangers_die_too: (subject) => {
    const { close } = subject;
    Object.assign(subject, {
      close: async (...call: Parameters<typeof close>) => {
        const closed = await close(...call);
        await killUntilGone(subject.livingProcesses);
        return closed;
      },
    });
  },
  tmux_is_there: (subject) => {
    const { begin } = subject;
    Object.assign(subject, {
      begin: (...[handle, message, options]: Parameters<typeof begin>) =>
        begin(handle, message, { ...options, tmuxOnPath: true }),
    });
  },
  record_is_buffered: (subject) => {
    const { lose } = subject;
    Object.assign(subject, {
      lose: async (handle: HandleJson, depth: LossDepth) => {
        await lose(handle, depth);
        await cutLastMessage(subject, handle);
      },
    });
  },
};

/** Drops the record's last user message and what follows, as if it had never left a buffer. */
async function cutLastMessage(subject: RealSubject, handle: HandleJson): Promise<void> {
  const records = await subject.fixture.findRecords(subject.cliHome);
  const path = records.get(subject.nativeSessionId(handle));
  const last = (await subject.recordedMessages(handle)).at(-1);
  if (path === undefined || last === undefined) return;
  const text = await readFile(path, 'utf8');
  const lines = text.split('\n');
  const first = lines.findIndex((line) => line.includes(JSON.stringify(last).slice(1, -1)));
  await writeFile(path, `${lines.slice(0, first).join('\n')}\n`);
}

/** Remembers whose turn it is to write, and returns what makes it theirs again. */
async function rememberFence(
  subject: RealSubject,
  handle: HandleJson,
): Promise<() => Promise<void>> {
  const id = subject.nativeSessionId(handle);
  const generation = await readGeneration(subject.cliHome, id);
  const session = subject.providerFields(handle)['tmux_session'];
  const token = await subject.tmux.run('show-options', '-pqv', '-t', `=${session}:`, LEASE_OPTION);
  return async () => {
    await reviveGeneration(subject.cliHome, id, generation);
    await subject.tmux.run('set-option', '-p', '-t', `=${session}:`, LEASE_OPTION, token);
  };
}

const LEASE_OPTION = '@holdfast_lease';
