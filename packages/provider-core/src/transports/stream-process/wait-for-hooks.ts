import { join } from 'node:path';
import { CliUnusableError } from '../../errors/turn-error.js';
import type { StreamProcess } from '../../spec/stream-process.js';
import { endProcesses, type FoundProcess } from '../../state/process-tree.js';
import type { OpenRequest, SessionContext } from '../session-transport.js';
import { refuseStale } from './live-stream.js';
import { exists } from './stream-files.js';

/** How long after its start a CLI may take to run the hooks that it runs then. */
const HOOKS_MS = 10_000;
const HOOK_POLL_MS = 10;

/**
 * Until the process has run its first hooks: without them a tool runs before its message is on disk, and nobody is asked.
 * One that runs none is ended, so that nobody goes on with it later.
 */
export async function waitForHooks(
  way: StreamProcess,
  context: SessionContext,
  request: Pick<OpenRequest, 'fence' | 'signal'>,
  process: FoundProcess,
): Promise<void> {
  const { clock } = context;
  const end = clock.monotonicMs() + HOOKS_MS;
  while (!(await exists(join(context.filesDir, way.files.startSign)))) {
    if (clock.monotonicMs() >= end) {
      refuseStale(request);
      await endProcesses([process], { graceMs: 0 });
      const detail =
        'it is up, but runs none of our hooks. Remove what disables hooks in its settings.';
      throw new CliUnusableError(context.binary, 'unresponsive', detail);
    }
    await clock.sleep(HOOK_POLL_MS, request.signal);
  }
}
