import { setTimeout as sleep } from 'node:timers/promises';
import type { Measurement } from '../alternate.js';
import type { BenchPlace } from '../bench-place.js';
import { nextTag, taggedAnswer, taggedMessage } from '../timing-model.js';
import { orLost } from './claude-pane.js';
import { codexEnv, planCodexModel } from './codex-server.js';
import { type ControlClient, quote } from './control-client.js';
import { tailRecord } from './record-tail.js';

/** A bare Codex that resumes a thread in a pane, without daemon: paste, echo, Enter; the rollout tells the end. */
export class CodexPane {
  readonly #client: ControlClient;
  readonly #pane: string;
  readonly #rollout: string;

  private constructor(client: ControlClient, pane: string, rollout: string) {
    this.#client = client;
    this.#pane = pane;
    this.#rollout = rollout;
  }

  /** Resumes the thread; returns as soon as the pane is there. */
  static async resume(
    client: ControlClient,
    place: BenchPlace,
    { threadId, rollout }: { readonly threadId: string; readonly rollout: string },
  ): Promise<CodexPane> {
    const { workingDir } = place.place;
    const env = Object.entries(codexEnv(place)).map(([name, value]) => `${name}=${value}`);
    const options = ['--no-daemon', '-C', workingDir, '-m', place.fixture.model];
    const argv = [place.cli.binary, 'resume', ...options, ...planCodexModel(place), threadId];
    const words = ['env', '-i', ...env, ...argv].map(quote).join(' ');
    const pane = await client.run(
      `new-session -d -P -F "#{pane_id}" -x 160 -y 50 -c ${quote(workingDir)} ${words}`,
    );
    if (!/^%\d+$/.test(pane)) throw new Error(`tmux opened no pane for the probe: ${pane}`);
    return new CodexPane(client, pane, rollout);
  }

  async awaitComposer(): Promise<void> {
    await this.#awaitScreen((screen) => /^\s*›/m.test(screen) && !/trust|update/i.test(screen));
  }

  /** Sends one message; `durable` is the moment at which the rollout has the turn's end. */
  async turn({
    pollMs,
    start = performance.now(),
  }: {
    readonly pollMs?: number;
    readonly start?: number;
  }): Promise<Measurement | undefined> {
    const tag = nextTag();
    let stop: () => void = () => {};
    const ended = new Promise<number>((resolve) => {
      const onLine = (line: string, at: number) => {
        if (line.includes('"type":"task_complete"') && line.includes(taggedAnswer(tag)))
          resolve(at);
      };
      stop = tailRecord(this.#rollout, onLine, pollMs === undefined ? {} : { pollMs });
    });
    try {
      await this.#client.paste(this.#pane, taggedMessage(tag));
      await this.#awaitScreen((screen) => screen.includes(tag));
      await this.#client.run(`send-keys -t ${this.#pane} Enter`);
      const at = await orLost(ended);
      return at === undefined ? undefined : { answer: at - start, durable: at - start };
    } finally {
      stop();
    }
  }

  async close(): Promise<void> {
    await this.#client.run(`kill-pane -t ${this.#pane}`);
  }

  async #awaitScreen(fits: (screen: string) => boolean): Promise<void> {
    const end = performance.now() + 30_000;
    for (;;) {
      const screen = await this.#client.capture(this.#pane);
      if (fits(screen)) return;
      if (performance.now() > end) throw new Error(`The probe's Codex does not show it: ${screen}`);
      await sleep(5);
    }
  }
}
