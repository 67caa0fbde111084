import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SessionBusyError } from '../../errors/turn-error.js';
import type { TypedPane } from '../../spec/typed-pane.js';
import type { SessionContext } from '../session-transport.js';
import type { LivePane } from './live-pane.js';

/** Tells the CLI's submit hook which text is ours; the token comes back with its verdict. */
export async function armGate({ way, context, fence }: LivePane, text: string): Promise<string> {
  if (!fence.isCurrent()) throw new SessionBusyError({ kind: 'ours' });
  const token = randomBytes(12).toString('hex');
  const permissions = context.config.toolPolicy?.permissions ?? 'ask';
  await disarmGate(way, context);
  // Not synced: a machine that goes down takes the pane, and so the gate's question, with it.
  for (const { name, content } of way.gate.arm({ text, token, permissions })) {
    await writeFile(join(context.filesDir, name), content, { mode: 0o600 });
  }
  return token;
}

/** From here on every text is somebody else's. */
export async function disarmGate(way: TypedPane, { filesDir }: SessionContext): Promise<void> {
  await rm(join(filesDir, way.gate.armedFile), { force: true });
}
