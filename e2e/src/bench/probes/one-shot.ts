import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Codex } from '@openai/codex-sdk';
import type { Measurement } from '../alternate.js';
import type { BenchPlace } from '../bench-place.js';
import { nextTag, taggedAnswer, taggedMessage } from '../timing-model.js';
import { claudeEnv } from './claude-launch.js';
import { codexEnv, planCodexModel } from './codex-server.js';

/** `claude -p --resume`: `answer` is its text, `durable` the end of the process. */
export function measurePrint(place: BenchPlace, args: readonly string[]) {
  const base = ['-p', ...args, '--model', place.fixture.model, '--setting-sources', 'user'];
  return runOnce(place, claudeEnv(place), base);
}

/** `codex exec resume --json`: `answer` is the agent's item, `durable` the end of the process. */
export function measureExec(place: BenchPlace, threadId: string) {
  const options = [...planCodexModel(place), '-m', place.fixture.model, '-s', 'workspace-write'];
  const args = ['exec', '--skip-git-repo-check', ...options, 'resume', '--json', threadId, '-'];
  return runOnce(place, codexEnv(place), args);
}

/** The message goes in by the standard input, as ours does. */
async function runOnce(
  place: BenchPlace,
  env: Record<string, string>,
  args: readonly string[],
): Promise<Measurement | undefined> {
  const tag = nextTag();
  const start = performance.now();
  const child = spawn(place.cli.binary, args, {
    env,
    cwd: place.place.workingDir,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let said = '';
  let answer = Number.NaN;
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8');
    if (Number.isNaN(answer) && said.includes(taggedAnswer(tag)))
      answer = performance.now() - start;
  });
  child.stdin.on('error', () => {});
  child.stdin.end(taggedMessage(tag));
  await once(child, 'close');
  return Number.isNaN(answer) ? undefined : { answer, durable: performance.now() - start };
}

/** A thread of the vendor's SDK, each of whose turns is a process of its own. */
export class CodexSdkThread {
  readonly #codex: Codex;
  readonly #options: Parameters<Codex['startThread']>[0];
  #threadId: string | undefined;

  constructor(place: BenchPlace) {
    const raw = planCodexModel(place).filter((word) => word !== '-c');
    this.#codex = new Codex({
      codexPathOverride: place.cli.binary,
      env: codexEnv(place),
      configOverrides: raw,
    });
    this.#options = {
      workingDirectory: place.place.workingDir,
      skipGitRepoCheck: true,
      model: place.fixture.model,
      sandboxMode: 'workspace-write',
    };
  }

  /** `Thread.run()`, which resolves once the process has ended. */
  async turn(): Promise<Measurement | undefined> {
    const tag = nextTag();
    const start = performance.now();
    const thread =
      this.#threadId === undefined
        ? this.#codex.startThread(this.#options)
        : this.#codex.resumeThread(this.#threadId, this.#options);
    const { finalResponse } = await thread.run(taggedMessage(tag));
    const durable = performance.now() - start;
    this.#threadId ??= thread.id ?? undefined;
    return finalResponse === taggedAnswer(tag) ? { answer: durable, durable } : undefined;
  }
}
