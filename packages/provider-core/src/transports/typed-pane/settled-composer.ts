import { BlockedError } from '../../errors/turn-error.js';
import type { Composer } from '../../spec/typed-pane.js';
import { type LivePane, readPaneActivity, readPaneScreen } from './live-pane.js';

const POLL_MS = 40;
/** How long a screen without a composer may be one that is only being drawn. */
const PATIENCE_MS = 2_500;

/** The composer, once it can be seen and the session waits for nothing else. A page in its place is `blocked`. */
export async function readSettledComposer(pane: LivePane): Promise<Composer> {
  const { clock } = pane.context;
  const end = clock.monotonicMs() + PATIENCE_MS;
  for (;;) {
    const screen = await readPaneScreen(pane);
    const isWaiting = (await readPaneActivity(pane)) === 'waiting';
    if (screen.state === 'composer' && !isWaiting) return screen.composer;
    if (clock.monotonicMs() >= end) {
      const page = screen.state === 'page' ? screen : undefined;
      throw new BlockedError(page?.dialog ?? 'unknown', await readText(pane));
    }
    await clock.sleep(POLL_MS);
  }
}

async function readText({ server, paneId }: LivePane): Promise<string> {
  return server.capture(paneId);
}
