import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findCodingAdapter, findProvider } from '../providers/registry.js';
import type { SessionConfig } from '../spec/session-config.js';
import { cliHomeOf } from './preflight.js';

/**
 * The setting in the CLI's home by which somebody else than its login would pay for a coding job, or its texts would go
 * elsewhere; `undefined` where there is none. Only looks.
 */
export async function findForeignPayer(
  adapterId: string,
  config: Pick<SessionConfig, 'cliHome' | 'endpoint'>,
): Promise<string | undefined> {
  const found = findCodingAdapter(adapterId);
  const definition = found && findProvider(found.provider);
  const settings = found?.adapter.payerSettings;
  if (!definition || !settings) return undefined;
  const { file } = settings;
  const text = await readSettings(join(cliHomeOf(definition, config), file));
  if (text === undefined) return undefined;
  const named =
    text === 'unreadable'
      ? 'what cannot be read'
      : settings.findForeignPayer(text.content, { hasEndpoint: config.endpoint !== undefined });
  return named === undefined ? undefined : `${file}: ${named}`;
}

async function readSettings(
  path: string,
): Promise<{ readonly content: string } | 'unreadable' | undefined> {
  try {
    return { content: await readFile(path, 'utf8') };
  } catch (error) {
    const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return isAbsent ? undefined : 'unreadable';
  }
}
