import { setTimeout as sleep } from 'node:timers/promises';
import type { Measurement } from '../alternate.js';
import { nextTag, taggedAnswer, taggedMessage } from '../timing-model.js';
import { type ClaudePane, LOST_AFTER_MS } from './claude-pane.js';

const SNAPSHOT_MS = 25;
const STABLE_MS = 2_000;
const SETTLED_MS = 1_000;
const NO_ECHO_MS = 2_000;

/**
 * One turn with the constants of coder/agentapi, rebuilt from its source: paste, a second of sameness, Enter, and the
 * answer counts once the screen has been the same for two seconds.
 */
export async function measureAgentApiTurn(pane: ClaudePane): Promise<Measurement | undefined> {
  const tag = nextTag();
  const start = performance.now();
  const before = await pane.capture();
  await pane.paste(taggedMessage(tag));
  await sleep(50);
  await awaitScreen(pane, (screen) => screen !== before, NO_ECHO_MS);
  await awaitSame(pane, SETTLED_MS);
  const composed = await pane.capture();
  await pane.pressEnter();
  await sleep(SNAPSHOT_MS);
  await awaitScreen(pane, (screen) => screen !== composed, NO_ECHO_MS);
  const isThere = await awaitScreen(
    pane,
    (screen) => screen.includes(taggedAnswer(tag)),
    LOST_AFTER_MS,
  );
  if (!isThere) return undefined;
  await awaitSame(pane, STABLE_MS);
  return { answer: performance.now() - start };
}

async function awaitScreen(
  pane: ClaudePane,
  fits: (screen: string) => boolean,
  deadlineMs: number,
): Promise<boolean> {
  const end = performance.now() + deadlineMs;
  while (performance.now() < end) {
    if (fits(await pane.capture())) return true;
    await sleep(SNAPSHOT_MS);
  }
  return false;
}

async function awaitSame(pane: ClaudePane, sameMs: number): Promise<void> {
  let last = await pane.capture();
  let since = performance.now();
  while (performance.now() - since < sameMs) {
    await sleep(SNAPSHOT_MS);
    const screen = await pane.capture();
    if (screen === last) continue;
    last = screen;
    since = performance.now();
  }
}
