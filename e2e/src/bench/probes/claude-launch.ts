import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchPlace } from '../bench-place.js';
import { BENCH_KEY } from '../bench-place.js';
import { PROBE_TMUX_ENV } from './control-client.js';

/** Which hooks a probe's session runs. */
export interface ProbeHooks {
  /** Where the http Stop hook goes; without it the session has none. */
  readonly stopUrl?: string;
  /** The private folder of a session of ours, whose gate and barrier the probe runs as well. */
  readonly gateOf?: string;
}

/** Command and environment of a bare Claude Code session. */
export interface ClaudeLaunch {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Tells the copied gate that this text is the probe's own; nothing where there is no gate. */
  readonly arm: (text: string) => Promise<void>;
}

/** Plans a session of the same CLI in the same home, with the same model and the hooks asked for. */
export async function planClaude(
  place: BenchPlace,
  {
    sessionId,
    resume,
    hooks,
  }: { readonly sessionId: string; readonly resume: boolean; readonly hooks: ProbeHooks },
): Promise<ClaudeLaunch> {
  const folder = await place.place.createFolder('probe');
  const gate = hooks.gateOf === undefined ? {} : await copyGate(hooks.gateOf, folder, sessionId);
  const stop = { type: 'http', url: hooks.stopUrl, timeout: 10 };
  const settings = {
    hooks: { ...gate, ...(hooks.stopUrl === undefined ? {} : { Stop: [{ hooks: [stop] }] }) },
    tui: 'default',
  };
  const path = join(folder, 'settings.json');
  await writeFile(path, JSON.stringify(settings));
  return {
    argv: [
      place.cli.binary,
      resume ? '--resume' : '--session-id',
      sessionId,
      ...['--permission-mode', 'default', '--settings', path],
      ...['--setting-sources', 'user', '--model', place.fixture.model],
    ],
    env: claudeEnv(place),
    arm: async (text) => {
      if (hooks.gateOf === undefined) return;
      await writeFile(join(folder, 'gate-text'), `"prompt":${JSON.stringify(text)}\n`);
      await writeFile(join(folder, 'gate-armed'), 'probe default\n');
    },
  };
}

/** Environment of a bare Claude Code in the bench's home. */
export function claudeEnv(place: BenchPlace): Record<string, string> {
  return {
    ...PROBE_TMUX_ENV,
    HOME: place.place.home,
    CLAUDE_CONFIG_DIR: place.cliHome,
    ANTHROPIC_BASE_URL: place.model.baseUrl,
    ANTHROPIC_AUTH_TOKEN: BENCH_KEY,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: '0',
    CLAUDE_CODE_RESUME_THRESHOLD_MINUTES: '99999999',
    DISABLE_AUTOUPDATER: '1',
  };
}

/** The very scripts of a session of ours, with the probe's folder and session in place of its. */
async function copyGate(from: string, to: string, sessionId: string): Promise<object> {
  const ours = JSON.parse(await readFile(join(from, 'settings.json'), 'utf8'));
  const move = (text: string) => text.replaceAll(from, to);
  for (const name of ['gate.sh', 'barrier.sh']) {
    const script = move(await readFile(join(from, name), 'utf8'));
    const named = script.replace(/^session='.*'$/m, `session='${sessionId}'`);
    await writeFile(join(to, name), named, { mode: 0o700 });
  }
  const { UserPromptSubmit, PreToolUse } = ours.hooks;
  return JSON.parse(move(JSON.stringify({ UserPromptSubmit, PreToolUse })));
}
