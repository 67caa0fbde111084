import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { PageInTheWay } from '../session-transport.js';
import { type LivePane, readPaneScreen } from './live-pane.js';

/** The page that a waiting session stands on; none where the relay of our own hooks is about to answer it. */
export async function findPageInTheWay(pane: LivePane): Promise<PageInTheWay | undefined> {
  if (await isBeingApproved(pane)) return undefined;
  const screen = await readPaneScreen(pane);
  if (screen.state === 'composer') return undefined;
  const dialog = screen.state === 'page' ? screen.dialog : 'unknown';
  return { dialog, pageText: screen.text };
}

/** Whether a request of our own permission hook waits for the host. */
export async function isBeingApproved({ context, way }: LivePane): Promise<boolean> {
  const { approverFile, approvalsFolder } = way.approvals;
  const isArmed = await access(join(context.filesDir, approverFile)).then(
    () => true,
    () => false,
  );
  const open = await readdir(join(context.filesDir, approvalsFolder)).catch(() => []);
  return isArmed && open.length > 0;
}
