import { appendFile, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CliUnusableError,
  NativeHistoryMissingError,
  UncertainDeliveryError,
} from '../../errors/turn-error.js';
import type { PlannedFile } from '../../spec/launch-plan.js';
import type { TypedPane } from '../../spec/typed-pane.js';
import { writeFileAtomic } from '../../state/atomic-write.js';
import { endProcesses } from '../../state/process-tree.js';
import type { OpenRequest, SessionContext } from '../session-transport.js';
import { describeDamage, findDamage } from './record-damage.js';
import { type CliFiles, findRecords, listOwnProcesses, nativeIdOf } from './session-files.js';

const LEFTOVER_GRACE_MS = 1_000;

/** Throws where the session's working directory is not there any more. */
export async function checkWorkingDir({ config }: SessionContext): Promise<void> {
  const isFolder = await stat(config.workingDir).then(
    (entry) => entry.isDirectory(),
    () => false,
  );
  if (isFolder) return;
  throw new CliUnusableError(config.workingDir, 'working_dir_missing', 'it is not a folder.');
}

/** Tools outlive the CLI that started them; none may write beside the resumed session. */
export async function endLeftovers(context: SessionContext): Promise<void> {
  const { left } = await endProcesses(listOwnProcesses(context), { graceMs: LEFTOVER_GRACE_MS });
  if (left.length === 0) return;
  throw new CliUnusableError(
    context.binary,
    'unresponsive',
    `process ${left[0]} of an earlier run could not be ended.`,
  );
}

/** Whether there is something to resume. A record that vanished is never replaced by a fresh session. */
export async function hasConversation(
  way: CliFiles & Pick<TypedPane, 'holdsConversation' | 'planResumeMark'>,
  context: SessionContext,
  { fence, emit }: Pick<OpenRequest, 'fence' | 'emit'>,
): Promise<boolean> {
  const id = nativeIdOf(context);
  const [path, ...others] = await findRecords(way, context);
  if (others.length > 0) {
    throw new UncertainDeliveryError({
      what: 'the record of the session stands in more than one folder',
      journal: 'any',
      record: 'untrustworthy',
      process: 'gone',
    });
  }
  if (path === undefined && !context.acknowledged) return false;
  if (path === undefined) {
    throw new NativeHistoryMissingError(id, `no record of it stands in ${context.cliHome}`);
  }
  const bytes = await readFile(path);
  const damage = findDamage(bytes);
  if (damage) emit({ type: 'notice', text: describeDamage(damage) });
  const record = bytes.toString('utf8');
  if (way.holdsConversation(record)) {
    // Nothing else writes the record now: its processes are gone, and the lease is ours.
    const mark = fence.isCurrent() ? way.planResumeMark?.(record, id) : undefined;
    if (mark !== undefined) await appendFile(path, mark);
    return true;
  }
  if (context.acknowledged) throw new NativeHistoryMissingError(id, `${path} holds no message`);
  // The CLI takes the id for used, and has nothing to resume. Kept aside, for it is the CLI's file.
  await rename(path, `${path}.empty-${Buffer.from(context.nonce).toString('hex').slice(0, 8)}`);
  return false;
}

/** Writes what a launch needs into the session's private folder. */
export async function writePlannedFiles(
  { filesDir }: SessionContext,
  files: readonly PlannedFile[],
): Promise<void> {
  for (const { name, content, executable } of files) {
    const mode = executable ? 0o700 : 0o600;
    // Planned anew at every launch: a power cut takes nothing that is missed.
    await writeFileAtomic(join(filesDir, name), content, { mode, durable: false });
  }
}
