import { randomBytes } from 'node:crypto';
import { readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TypedPane } from '../../spec/typed-pane.js';
import { isAbsentError } from '../../state/state-error.js';
import type { SessionContext } from '../session-transport.js';

/**
 * Tells the session's permission hook whether somebody answers. With nobody, what waits from an earlier owner is denied
 * at once. Gives back what to hand to {@link withdrawApprover}.
 */
export async function announceApprover(
  { approvals }: Pick<TypedPane, 'approvals'>,
  { filesDir }: SessionContext,
  answersRequests: boolean,
): Promise<string | undefined> {
  const path = join(filesDir, approvals.approverFile);
  if (!answersRequests) {
    removeFile(path);
    return undefined;
  }
  const token = randomBytes(12).toString('hex');
  writeFileSync(path, token, { mode: 0o600 });
  return token;
}

/**
 * Takes the word back, so that nothing asks where nobody listens. While a request waits the word stands: whoever opens
 * the session next decides on it. Another owner's word is not ours to take back.
 */
export async function withdrawApprover(
  { approvals }: Pick<TypedPane, 'approvals'>,
  { filesDir }: SessionContext,
  token: string | undefined,
): Promise<void> {
  if (token === undefined) return;
  const path = join(filesDir, approvals.approverFile);
  const waiting = await readdir(join(filesDir, approvals.approvalsFolder)).catch(() => []);
  if (readToken(path) === token && waiting.length === 0) removeFile(path);
}

function readToken(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!isAbsentError(error)) throw error;
  }
}

/** Removes the requests of a CLI that is gone: nobody waits for their answers. */
export async function clearRequests(
  { approvals }: Pick<TypedPane, 'approvals'>,
  { filesDir }: SessionContext,
): Promise<void> {
  await rm(join(filesDir, approvals.approvalsFolder), { recursive: true, force: true });
}
