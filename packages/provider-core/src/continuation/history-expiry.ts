import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NativeHistoryMissingError } from '../errors/turn-error.js';
import type { Session } from './session.js';

const DAY_MS = 24 * 60 * 60 * 1_000;
/** How long before the CLI may delete a session a caller is warned. */
const WARN_DAYS = 7;

/** When the CLI may delete the session by itself, counted from its last turn; absent where it deletes none. */
export async function historyExpiresAt(session: Session): Promise<number | undefined> {
  const { historyRetention } = session.definition;
  if (!historyRetention) return undefined;
  const settings = readSettings(join(session.record.cliHome, historyRetention.settingsFile));
  const set = settings === undefined ? undefined : historyRetention.readDays(settings);
  const lastUsed = Date.parse(session.record.updatedAt);
  if (Number.isNaN(lastUsed)) return undefined;
  return lastUsed + (set ?? historyRetention.defaultDays) * DAY_MS;
}

/** The CLI's own file, only looked at: one that cannot be read is the CLI's affair. */
function readSettings(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** The warning that a session's history is about to be deleted by its CLI, if it is. */
export async function expiryNotice(session: Session): Promise<string | undefined> {
  const expiresAt = await historyExpiresAt(session);
  if (expiresAt === undefined || expiresAt - session.clock.now() > WARN_DAYS * DAY_MS) {
    return undefined;
  }
  const date = new Date(expiresAt).toISOString();
  return `${session.definition.displayName} deletes sessions that were not used for a while; this one may go from ${date} on. A turn renews it.`;
}

/** A history that is gone after its time was most likely deleted by the CLI: the error says so. */
export async function explainMissingHistory(session: Session, error: unknown): Promise<unknown> {
  if (!(error instanceof NativeHistoryMissingError) || error.reason === 'expired') return error;
  const expiresAt = await historyExpiresAt(session);
  if (expiresAt === undefined || session.clock.now() < expiresAt) return error;
  return new NativeHistoryMissingError(
    session.nativeSessionId,
    `it was last used on ${session.record.updatedAt}, and the CLI deletes sessions by itself after a time`,
    'expired',
    { cause: error },
  );
}
