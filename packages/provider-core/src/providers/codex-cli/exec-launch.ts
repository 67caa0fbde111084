import type { ServedCall, ServedLaunch } from '../../spec/served-pane.js';
import type { PermissionLevel, SessionConfig } from '../../spec/session-config.js';
import type { SessionCreation, TurnLaunch, TurnLaunchRequest } from '../../spec/turn-process.js';
import {
  API_KEY_VARIABLE,
  NO_UPDATE_CHECK,
  PERMISSION_SETTINGS,
  planEndpoint,
  planMcpServers,
  refuseToolPatterns,
  toml,
} from './launch.js';

/**
 * One turn: `codex exec … resume --json <id> -`, for the first turn too. `exec resume` restores no setting of the thread,
 * so each turn brings all of them, and takes `-s` and `-C` only before the word `resume`.
 */
export function planTurnLaunch(request: TurnLaunchRequest): TurnLaunch {
  const { config, cliHome, nativeSessionId, images, apiKey } = request;
  refuseToolPatterns(config.toolPolicy);
  const profile = planProfile(config);
  const profileName = `holdfast-${nativeSessionId}`;
  return {
    args: [
      'exec',
      '--skip-git-repo-check',
      ...['-s', sandboxOf(config)],
      ...['-C', config.workingDir],
      ...(config.model === undefined ? [] : ['-m', config.model]),
      ...planOverrides(config),
      ...(profile === undefined ? [] : ['-p', profileName]),
      'resume',
      '--json',
      ...images.flatMap((path) => ['-i', path]),
      // What looks like a flag after this is none.
      ...['--', nativeSessionId, '-'],
    ],
    env: environmentOf(cliHome, apiKey),
    homeFiles:
      profile === undefined ? [] : [{ name: `${profileName}.config.toml`, content: profile }],
  };
}

/** What the level asks of the sandbox. `exec` never asks, and what would need a yes is refused. */
export function sandboxOf({ toolPolicy }: Pick<SessionConfig, 'toolPolicy'>): string {
  return PERMISSION_SETTINGS[toolPolicy?.permissions ?? 'ask'].sandbox;
}

/** The level that a turn's recorded sandbox stands for, when nobody is ever asked. */
export function levelOfSandbox(sandbox: string): PermissionLevel | undefined {
  if (sandbox === 'read-only') return 'read_only';
  // Under `ask` it is the same sandbox, and what goes beyond it is refused in both.
  if (sandbox === 'workspace-write') return 'ask';
  return sandbox === 'danger-full-access' || sandbox === 'external-sandbox' ? 'full' : undefined;
}

function planOverrides({
  effort,
  workingDir,
  trustWorkingDir,
  ...config
}: SessionConfig): string[] {
  return [
    ...NO_UPDATE_CHECK,
    ...(effort === undefined ? [] : ['-c', `model_reasoning_effort=${toml(effort)}`]),
    ...(trustWorkingDir
      ? ['-c', `projects=${tomlValue({ [workingDir]: { trust_level: 'trusted' } })}`]
      : []),
    ...planEndpoint({ workingDir, ...config }),
  ];
}

/** Instructions and servers may hold what no other user of the machine may see, and arguments are seen by all. */
function planProfile({ systemPrompt, mcpServers }: SessionConfig): string | undefined {
  const lines = [
    ...(systemPrompt === undefined ? [] : [`developer_instructions = ${toml(systemPrompt)}`]),
    ...(mcpServers === undefined ? [] : [`mcp_servers = ${tomlValue(planMcpServers(mcpServers))}`]),
  ];
  return lines.length === 0 ? undefined : `${lines.join('\n')}\n`;
}

/** A JSON value as TOML: an object becomes an inline table. */
function tomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const pairs = Object.entries(value).map(([key, each]) => `${toml(key)} = ${tomlValue(each)}`);
    return `{ ${pairs.join(', ')} }`;
  }
  return typeof value === 'string' ? toml(value) : String(value);
}

function environmentOf(cliHome: string, apiKey: string | undefined): Record<string, string> {
  return { CODEX_HOME: cliHome, ...(apiKey === undefined ? {} : { [API_KEY_VARIABLE]: apiKey }) };
}

/**
 * `codex exec` tells a new thread's id only while the message is on its way to the model. So the thread is made first: an
 * app-server on pipes starts it, and naming it writes its rollout, without a turn and without a model call.
 */
export const codexCreation: Pick<SessionCreation, 'launch' | 'start' | 'keep'> = {
  launch: ({ config, cliHome, apiKey }): ServedLaunch => ({
    args: ['app-server', ...NO_UPDATE_CHECK, ...planEndpoint(config)],
    env: environmentOf(cliHome, apiKey),
  }),
  // Read-only, whatever the turns may do: a writable one writes its folder into the user's configuration as trusted.
  start: ({ workingDir, model }): ServedCall => ({
    method: 'thread/start',
    params: {
      cwd: workingDir,
      sandbox: 'read-only',
      approvalPolicy: 'never',
      ...(model === undefined ? {} : { model }),
    },
  }),
  // Its own id: a name that no other thread has, and that finds this one alone.
  keep: (nativeSessionId): ServedCall => ({
    method: 'thread/name/set',
    params: { threadId: nativeSessionId, name: nativeSessionId },
  }),
};
