import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { TypedPane } from '../../spec/typed-pane.js';
import type { SessionContext } from '../session-transport.js';

/** Why the text cannot be delivered exactly, judged with the files its `@` words may name. */
export async function findRefusal(
  way: TypedPane,
  { config, cliVersion }: SessionContext,
  text: string,
): Promise<{ readonly reason: string; readonly detail: string } | undefined> {
  const plan = way.planDelivery({ text, cliVersion });
  if (plan.kind === 'refused') return { reason: plan.reason, detail: plan.detail };
  return findMentionedFile(config, plan.mentionedPaths);
}

/** The refusal of a text that names a file by `@`; nothing when no file of such a name is there. */
export async function findMentionedFile(
  { workingDir }: SessionContext['config'],
  paths: readonly string[],
): Promise<{ readonly reason: string; readonly detail: string } | undefined> {
  for (const path of paths) {
    if (isThere(workingDir, path)) {
      const detail = `"@${path}" names a file, whose content would be put in its place.`;
      return { reason: 'file_mention', detail };
    }
  }
  return undefined;
}

function isThere(workingDir: string, path: string): boolean {
  return existsSync(
    path.startsWith('~') ? join(homedir(), path.slice(1)) : resolve(workingDir, path),
  );
}
