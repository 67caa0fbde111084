import type {
  PaneLaunchRequest,
  ResumePlan,
  ServedCall,
  ServedLaunch,
  ServerLaunchRequest,
  StartPlan,
} from '../../spec/served-pane.js';
import type { McpServer, PermissionLevel, SessionConfig } from '../../spec/session-config.js';
import { configReadSchema } from './frames.wire.js';

/** The variable that carries the endpoint's key to the app-server. */
export const API_KEY_VARIABLE = 'HOLDFAST_ENDPOINT_KEY';

const MODEL_PROVIDER = 'holdfast';
/** An update page would stand over the pane, and its default is to update. */
export const NO_UPDATE_CHECK = ['-c', 'check_for_update_on_startup=false'];

/** The app-server on its socket. All that a session brings of its own goes in by `thread/start`. */
export function planServerLaunch(request: ServerLaunchRequest): ServedLaunch {
  const { config, cliHome, socketPath, apiKey } = request;
  return {
    args: [
      'app-server',
      '--listen',
      `unix://${socketPath}`,
      ...NO_UPDATE_CHECK,
      ...planEndpoint(config),
    ],
    env: { CODEX_HOME: cliHome, ...(apiKey === undefined ? {} : { [API_KEY_VARIABLE]: apiKey }) },
  };
}

/**
 * A TUI that shows one thread of the app-server. Without `-C`, and started elsewhere, it takes the thread's own folder;
 * with it, a page would ask to trust the folder, which no override keeps away.
 */
export function planPaneLaunch(request: PaneLaunchRequest): ServedLaunch {
  const { cliHome, socketPath, nativeSessionId } = request;
  return {
    args: ['resume', '--remote', `unix://${socketPath}`, ...NO_UPDATE_CHECK, nativeSessionId],
    env: { CODEX_HOME: cliHome },
  };
}

/** The overrides that point Codex at an endpoint; its key goes by {@link API_KEY_VARIABLE}. */
export function planEndpoint({ endpoint }: SessionConfig): string[] {
  if (!endpoint) return [];
  const url = new URL(endpoint.baseUrl);
  if (url.username || url.password) {
    throw new TypeError('endpoint.baseUrl must hold no user name or password; use endpoint.apiKey');
  }
  const key = `model_providers.${MODEL_PROVIDER}`;
  return [
    ...['-c', `model_provider=${toml(MODEL_PROVIDER)}`],
    ...['-c', `${key}.name=${toml(MODEL_PROVIDER)}`],
    ...['-c', `${key}.base_url=${toml(endpoint.baseUrl)}`],
    ...['-c', `${key}.wire_api="responses"`],
    ...(endpoint.apiKey === undefined ? [] : ['-c', `${key}.env_key=${toml(API_KEY_VARIABLE)}`]),
  ];
}

/** A TOML basic string is a JSON string, save for DEL. */
export function toml(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f');
}

/** The sandbox and approval policy a level stands for. */
export const PERMISSION_SETTINGS: Readonly<
  Record<PermissionLevel, { readonly sandbox: string; readonly approvalPolicy: string }>
> = {
  read_only: { sandbox: 'read-only', approvalPolicy: 'never' },
  ask: { sandbox: 'workspace-write', approvalPolicy: 'on-request' },
  edit: { sandbox: 'workspace-write', approvalPolicy: 'never' },
  full: { sandbox: 'danger-full-access', approvalPolicy: 'never' },
};

/** A new thread. Its developer instructions stay in its history, so a resume does not repeat them. */
export function planThreadStart(plan: StartPlan): ServedCall {
  const { systemPrompt } = plan.config;
  return {
    method: 'thread/start',
    params: {
      ...planThreadSettings(plan),
      ...(systemPrompt === undefined ? {} : { developerInstructions: systemPrompt }),
    },
  };
}

/** The thread again, with everything that a resume from disk does not bring back by itself. */
export function planThreadResume(plan: ResumePlan): ServedCall {
  return {
    method: 'thread/resume',
    params: {
      threadId: plan.nativeSessionId,
      excludeTurns: true,
      ...planThreadSettings(plan),
      ...(plan.config.toolPolicy?.inherit ? planOwnSettings(plan.ownConfig) : {}),
    },
  };
}

/** A thread keeps what it last ran with: an owner who has become stricter since is heard only so. */
function planOwnSettings(ownConfig: unknown) {
  const { sandbox_mode: sandbox, approval_policy: approvalPolicy } =
    configReadSchema.safeParse(ownConfig).data?.config ?? {};
  return { ...(sandbox ? { sandbox } : {}), ...(approvalPolicy ? { approvalPolicy } : {}) };
}

/** Without the trust override, Codex writes a trusted folder into the user's own configuration at the start. */
function planThreadSettings({ config, trust }: StartPlan) {
  const { model, workingDir, effort, mcpServers, toolPolicy, writableRoots } = config;
  refuseToolPatterns(toolPolicy);
  const overrides = {
    ...(effort === undefined ? {} : { model_reasoning_effort: effort }),
    ...(mcpServers === undefined ? {} : { mcp_servers: planMcpServers(mcpServers) }),
    // Without it the model can ask in plan mode alone. A loaded thread keeps what it was opened with, so that it does not
    // follow from who listens now: a question that nobody takes is answered with nothing at once.
    features: { default_mode_request_user_input: true },
    ...(trust ? { projects: { [workingDir]: { trust_level: trust } } } : {}),
    ...(writableRoots ? { sandbox_workspace_write: planSandbox(writableRoots) } : {}),
  };
  return {
    cwd: workingDir,
    ...(toolPolicy?.inherit ? {} : PERMISSION_SETTINGS[toolPolicy?.permissions ?? 'ask']),
    ...(model === undefined ? {} : { model }),
    config: overrides,
  };
}

/** Every value is said: what is left out comes from the user's own configuration. */
function planSandbox(writableRoots: readonly string[]) {
  return {
    writable_roots: writableRoots,
    network_access: false,
    exclude_slash_tmp: true,
    exclude_tmpdir_env_var: true,
  };
}

/** A pattern that Codex would not keep to must not look as if it did. */
export function refuseToolPatterns(toolPolicy: SessionConfig['toolPolicy']): void {
  if (toolPolicy?.allow?.length || toolPolicy?.deny?.length) {
    throw new TypeError('codex-cli has no tool patterns: toolPolicy.allow and .deny must be empty');
  }
}

/** The servers in the words of Codex's own configuration. */
export function planMcpServers(servers: Readonly<Record<string, McpServer>>) {
  return Object.fromEntries(
    Object.entries(servers).map(([name, server]) => [name, planMcpServer(server)]),
  );
}

function planMcpServer(server: McpServer) {
  if ('url' in server) {
    return { url: server.url, ...(server.headers ? { http_headers: server.headers } : {}) };
  }
  const { command, args, env } = server;
  return {
    command,
    ...(args ? { args } : {}),
    ...(env ? { env } : {}),
    // Codex starts these servers with little of its environment: without the mark, one that outlives it is never found.
    env_vars: ['HOLDFAST_NONCE'],
  };
}
