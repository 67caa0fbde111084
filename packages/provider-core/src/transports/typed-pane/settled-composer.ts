import { BlockedError, CliUnusableError } from '../../errors/turn-error.js';
import type { Composer } from '../../spec/typed-pane.js';
import { observePid } from '../../state/process-identity.js';
import { type LivePane, readPaneActivity, readPaneScreen } from './live-pane.js';

const POLL_MS = 40;
/** How long a screen without a composer may be one that is only being drawn. */
const PATIENCE_MS = 2_500;

/** The composer, once it can be seen and the session waits for nothing else. A page in its place is `blocked`. */
export async function readSettledComposer(pane: LivePane): Promise<Composer> {
  const { clock } = pane.context;
  const end = clock.monotonicMs() + PATIENCE_MS;
  for (;;) {
    checkProcess(pane);
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

/** What a dead process left on the screen is nobody's draft and no page. */
function checkProcess({ context, pid, startTime }: LivePane): void {
  if (startTime === undefined || observePid(pid, startTime) !== 'dead') return;
  throw new CliUnusableError(context.binary, 'exited', 'it ended while its composer was read.');
}

async function readText({ server, paneId }: LivePane): Promise<string> {
  return server.capture(paneId);
}
