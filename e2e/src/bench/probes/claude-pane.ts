import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Measurement } from '../alternate.js';
import type { BenchPlace } from '../bench-place.js';
import { nextTag, taggedAnswer, taggedMessage } from '../timing-model.js';
import { type ClaudeLaunch, type ProbeHooks, planClaude } from './claude-launch.js';
import { type ControlClient, quote } from './control-client.js';
import type { HookReceiver } from './hook-receiver.js';
import { tailRecord } from './record-tail.js';

/** A probe's turn that has told nothing for this long is lost. */
export const LOST_AFTER_MS = 30_000;

/** A bare Claude Code in a pane: paste, wait for the echo, Enter, and learn the end from a Stop hook or the transcript. */
export class ClaudePane {
  readonly #client: ControlClient;
  readonly #launch: ClaudeLaunch;
  readonly pane: string;
  readonly transcript: string;

  private constructor(
    client: ControlClient,
    launch: ClaudeLaunch,
    pane: string,
    transcript: string,
  ) {
    this.#client = client;
    this.#launch = launch;
    this.pane = pane;
    this.transcript = transcript;
  }

  /** Starts a new session, or resumes `sessionId`; returns as soon as the pane is there. */
  static async open(
    client: ControlClient,
    place: BenchPlace,
    hooks: ProbeHooks,
    resumed?: string,
  ): Promise<ClaudePane> {
    const sessionId = resumed ?? randomUUID();
    const launch = await planClaude(place, { sessionId, resume: resumed !== undefined, hooks });
    const pane = await openPane(client, launch, place.place.workingDir);
    const folder = place.place.workingDir.replace(/[^A-Za-z0-9]/g, '-');
    const transcript = join(place.cliHome, 'projects', folder, `${sessionId}.jsonl`);
    return new ClaudePane(client, launch, pane, transcript);
  }

  /** Waits until the composer is on the screen. */
  async awaitComposer(): Promise<void> {
    const end = performance.now() + 60_000;
    while (!hasComposer(await this.#client.capture(this.pane))) {
      if (performance.now() > end) throw new Error("The probe's composer did not show.");
      await sleep(10);
    }
  }

  /** Pastes, waits for the echo and presses Enter; gives the moment of the Enter. */
  async send(text: string, echo: string): Promise<number> {
    await this.#launch.arm(text);
    await this.#client.paste(this.pane, text);
    const end = performance.now() + 3_000;
    while (performance.now() < end) {
      const screen = await this.#client.capture(this.pane);
      if (screen.includes(echo) || screen.includes('[Pasted text')) break;
      await sleep(2);
    }
    await this.#client.run(`send-keys -t ${this.pane} Enter`);
    return performance.now();
  }

  /** What the screen shows. */
  capture(): Promise<string> {
    return this.#client.capture(this.pane);
  }

  async paste(text: string): Promise<void> {
    await this.#client.paste(this.pane, text);
  }

  async pressEnter(): Promise<void> {
    await this.#client.run(`send-keys -t ${this.pane} Enter`);
  }

  async close(): Promise<void> {
    await this.#client.run(`kill-pane -t ${this.pane}`);
  }
}

/** One turn whose `answer` is told by the Stop hook and whose `durable` end is the transcript's own. */
export async function measureHookTurn(
  pane: ClaudePane,
  receiver: HookReceiver,
): Promise<Measurement | undefined> {
  const tag = nextTag();
  const start = performance.now();
  const hook = receiver.awaitText(taggedAnswer(tag));
  const record = watchTranscript(pane.transcript, tag);
  try {
    const entered = await pane.send(taggedMessage(tag), tag);
    const moments = await orLost(Promise.all([hook.at, record.ended]));
    if (!moments) return undefined;
    return {
      submitted: entered - start,
      answer: moments[0] - start,
      durable: Math.max(...moments) - start,
    };
  } finally {
    hook.stop();
    record.stop();
  }
}

/** One turn whose `answer` is the record of the answer in the transcript, as a tailer without hooks learns it. */
export async function measureTailTurn(pane: ClaudePane): Promise<Measurement | undefined> {
  const tag = nextTag();
  const start = performance.now();
  const record = watchTranscript(pane.transcript, tag);
  try {
    await pane.send(taggedMessage(tag), tag);
    const at = await orLost(record.answered);
    if (at === undefined) return undefined;
    await orLost(record.ended);
    return { answer: at - start };
  } finally {
    record.stop();
  }
}

/** The moments at which the transcript holds the answer to a tag, and the end of its turn. */
function watchTranscript(
  path: string,
  tag: string,
): {
  readonly answered: Promise<number>;
  readonly ended: Promise<number>;
  readonly stop: () => void;
} {
  let tellAnswered: (at: number) => void = () => {};
  let tellEnded: (at: number) => void = () => {};
  const answered = new Promise<number>((resolve) => {
    tellAnswered = resolve;
  });
  const ended = new Promise<number>((resolve) => {
    tellEnded = resolve;
  });
  let isOurs = false;
  const stop = tailRecord(path, (line, at) => {
    if (line.includes('"type":"assistant"') && line.includes(taggedAnswer(tag))) {
      isOurs = true;
      tellAnswered(at);
    } else if (isOurs && line.includes('"subtype":"turn_duration"')) tellEnded(at);
  });
  return { answered, ended, stop };
}

/** The value, or nothing when it does not come in time. */
export async function orLost<Value>(promise: Promise<Value>): Promise<Value | undefined> {
  const enough = new AbortController();
  const late = sleep(LOST_AFTER_MS, undefined, { signal: enough.signal }).catch(() => undefined);
  try {
    return await Promise.race([promise, late]);
  } finally {
    enough.abort();
  }
}

/** Whether the screen has the composer of an idle Claude Code. */
function hasComposer(screen: string): boolean {
  return screen.includes('❯') && /shortcuts|⏵|effort|auto mode|\/model/.test(screen);
}

async function openPane(
  client: ControlClient,
  launch: ClaudeLaunch,
  workingDir: string,
): Promise<string> {
  const words = [
    ...['env', '-i', ...Object.entries(launch.env).map(([name, value]) => `${name}=${value}`)],
    ...launch.argv,
  ];
  const reply = await client.run(
    `new-session -d -P -F "#{pane_id}" -x 160 -y 50 -c ${quote(workingDir)} ${words.map(quote).join(' ')}`,
  );
  if (!/^%\d+$/.test(reply)) throw new Error(`tmux opened no pane for the probe: ${reply}`);
  return reply;
}
