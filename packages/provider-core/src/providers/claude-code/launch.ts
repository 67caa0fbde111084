import type { LaunchPlan, LaunchRequest, PlannedFile } from '../../spec/launch-plan.js';
import type {
  EnvReference,
  McpServer,
  PermissionLevel,
  SessionConfig,
} from '../../spec/session-config.js';
import { createHookFiles, createHookSettings } from './hooks.js';
import { permissionModes } from './permission-modes.js';

const SETTINGS_FILE = 'settings.json';
const SYSTEM_PROMPT_FILE = 'system-prompt.md';
const MCP_FILE = 'mcp.json';

/** What a way of driving the CLI adds to its launch. */
export interface LaunchVariant {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The events whose hooks are wanted; all when absent. */
  readonly hookEvents?: readonly string[];
}

/** Plans a launch into a pane. */
export function launchInPane(request: LaunchRequest): LaunchPlan {
  return planLaunch(request, { args: [], env: {} });
}

/**
 * Plans the first launch and every resume alike: what a resume silently loses (prompt, MCP, hooks, rules, effort) is
 * given again each time. Nothing of it but ids, names and paths stands in the arguments.
 */
export function planLaunch(request: LaunchRequest, variant: LaunchVariant): LaunchPlan {
  const { nativeSessionId } = request;
  if (nativeSessionId === undefined) throw new TypeError('claude-code is launched with an id');
  return {
    args: [...variant.args, ...planArguments(request, nativeSessionId)],
    env: { ...planEnvironment(request), ...variant.env },
    files: planFiles(request, nativeSessionId, variant),
  };
}

function planArguments(request: LaunchRequest, nativeSessionId: string): readonly string[] {
  const { config, resume, filesDir } = request;
  const file = (name: string) => `${filesDir}/${name}`;
  return [
    resume ? '--resume' : '--session-id',
    nativeSessionId,
    ...planMode(config),
    '--settings',
    file(SETTINGS_FILE),
    // Leaves out the project's own settings and its `.mcp.json`, whose page would block the start.
    '--setting-sources',
    'user',
    ...(config.model === undefined ? [] : ['--model', config.model]),
    ...(config.effort === undefined ? [] : ['--effort', config.effort]),
    ...(config.systemPrompt ? ['--append-system-prompt-file', file(SYSTEM_PROMPT_FILE)] : []),
    ...(config.mcpServers ? ['--mcp-config', file(MCP_FILE), '--strict-mcp-config'] : []),
  ];
}

/** Always, unless it is the owner's own: the default differs between versions, and one of them acts on its own judgement. */
function planMode(config: SessionConfig): readonly string[] {
  if (config.toolPolicy?.inherit) return [];
  return ['--permission-mode', permissionModes[readPermissions(config)]];
}

function planEnvironment(request: LaunchRequest): Readonly<Record<string, string | EnvReference>> {
  const { config, cliHome, resume, finishInterruptedTurn } = request;
  return {
    DISABLE_AUTOUPDATER: '1',
    // A suggestion in grey would be sent by an Enter on an empty composer.
    CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: '0',
    CLAUDE_CODE_DISABLE_FEEDBACK_SURVEY: '1',
    // Keeps the page away that offers a summary in place of an old, long session.
    CLAUDE_CODE_RESUME_THRESHOLD_MINUTES: '99999999',
    // With the default home the variable stays unset: setting it moves `.claude.json` too.
    ...(config.cliHome === undefined ? {} : { CLAUDE_CONFIG_DIR: cliHome }),
    ...planEndpoint(config),
    // The CLI runs unasked as root only where it is told that something confines it.
    ...(config.launcher ? { IS_SANDBOX: '1' } : {}),
    ...(resume && finishInterruptedTurn ? { CLAUDE_CODE_RESUME_INTERRUPTED_TURN: '1' } : {}),
  };
}

function planEndpoint({ endpoint }: SessionConfig): Record<string, string | EnvReference> {
  if (!endpoint) return {};
  return {
    ANTHROPIC_BASE_URL: endpoint.baseUrl,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    // Not ANTHROPIC_API_KEY: a key has to be approved on a page first.
    ...(endpoint.apiKey === undefined ? {} : { ANTHROPIC_AUTH_TOKEN: endpoint.apiKey }),
  };
}

function planFiles(
  request: LaunchRequest,
  nativeSessionId: string,
  variant: LaunchVariant,
): readonly PlannedFile[] {
  const { config, filesDir, cliHome } = request;
  return [
    { name: SETTINGS_FILE, content: json(planSettings(request, variant)) },
    ...createHookFiles({ filesDir, cliHome, nativeSessionId }),
    ...(config.systemPrompt ? [{ name: SYSTEM_PROMPT_FILE, content: config.systemPrompt }] : []),
    ...(config.mcpServers ? [{ name: MCP_FILE, content: json(planMcp(config.mcpServers)) }] : []),
  ];
}

function planSettings(
  { config, filesDir, signalUrl }: LaunchRequest,
  { hookEvents }: LaunchVariant,
): object {
  const { allow = [], deny = [] } = config.toolPolicy ?? {};
  const hooks = Object.entries(createHookSettings(filesDir, signalUrl));
  return {
    hooks: Object.fromEntries(hooks.filter(([event]) => hookEvents?.includes(event) ?? true)),
    ...(allow.length + deny.length > 0 ? { permissions: { allow, deny } } : {}),
    // With this key set, newer versions do not lay their offer of another renderer over the composer.
    tui: 'default',
    // The caller asked for `full`; the page would only ask again.
    ...(readPermissions(config) === 'full' && !config.toolPolicy?.inherit
      ? { skipDangerousModePermissionPrompt: true }
      : {}),
  };
}

function planMcp(servers: Readonly<Record<string, McpServer>>): object {
  const entries = Object.entries(servers).map(([name, server]) => [
    name,
    'url' in server ? { type: 'http', ...server } : { type: 'stdio', ...server },
  ]);
  return { mcpServers: Object.fromEntries(entries) };
}

function readPermissions(config: SessionConfig): PermissionLevel {
  return config.toolPolicy?.permissions ?? 'ask';
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
