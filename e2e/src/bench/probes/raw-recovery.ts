import { setTimeout as sleep } from 'node:timers/promises';
import type { Measurement } from '../alternate.js';
import type { BenchPlace } from '../bench-place.js';
import { nextTag, taggedAnswer, taggedMessage } from '../timing-model.js';
import { planClaude } from './claude-launch.js';
import { ClaudePane, orLost } from './claude-pane.js';
import type { ControlClient } from './control-client.js';
import type { HookReceiver } from './hook-receiver.js';
import { RawPty } from './raw-pty.js';

/** Bare `claude --resume` in a raw pty, fed as ours is: composer, paste, echo, Enter, http Stop hook. */
export async function recoverInRawPty(
  place: BenchPlace,
  receiver: HookReceiver,
  sessionId: string,
): Promise<Measurement | undefined> {
  const launch = await planClaude(place, {
    sessionId,
    resume: true,
    hooks: { stopUrl: receiver.url },
  });
  const tag = nextTag();
  const start = performance.now();
  const pty = new RawPty(launch.argv, { env: launch.env, workingDir: place.place.workingDir });
  const hook = receiver.awaitText(taggedAnswer(tag));
  try {
    await pty.awaitOutput(/\?2004h[\s\S]*(shortcuts|effort|auto mode)/);
    const mark = pty.output.length;
    pty.paste(taggedMessage(tag));
    await pty.awaitOutput(new RegExp(tag), mark);
    pty.write('\r');
    const at = await orLost(hook.at);
    return at === undefined ? undefined : { answer: at - start };
  } finally {
    hook.stop();
    await pty.close();
  }
}

/** What a script without any signal does: sleep three seconds, paste, sleep half a second, Enter. */
export async function recoverBySleeping(
  place: BenchPlace,
  { client, receiver }: { readonly client: ControlClient; readonly receiver: HookReceiver },
  sessionId: string,
): Promise<Measurement | undefined> {
  const tag = nextTag();
  const start = performance.now();
  const pane = await ClaudePane.open(client, place, { stopUrl: receiver.url }, sessionId);
  const hook = receiver.awaitText(taggedAnswer(tag));
  try {
    await sleep(3_000);
    await pane.paste(taggedMessage(tag));
    await sleep(500);
    await pane.pressEnter();
    const at = await orLost(hook.at);
    return at === undefined ? undefined : { answer: at - start };
  } finally {
    hook.stop();
    await pane.close();
  }
}
