import type { TmuxDoor } from './tmux.js';
import { waitFor } from './wait-for.js';

const DEADLINE_MS = 15_000;

/** A person at the pane: types and presses Enter as soon as the screen shows `sign`, and gives up when it never does. */
export async function sendOnceShown(
  tmux: TmuxDoor,
  session: string,
  { sign, text }: { readonly sign: string; readonly text: string },
): Promise<void> {
  const pane = `=${session}:`;
  const isShown = async () => (await tmux.run('capture-pane', '-p', '-t', pane)).includes(sign);
  try {
    await waitFor(`${sign} on the screen`, isShown, { deadlineMs: DEADLINE_MS });
    await tmux.run('send-keys', '-t', pane, '-l', '--', text);
    await tmux.run('send-keys', '-t', pane, 'Enter');
  } catch {
    // The pane is gone, or the text was never shown: then nobody could add to it.
  }
}
