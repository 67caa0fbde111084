import {
  beginTurn,
  type CloseResult,
  type CodingAgentTurn,
  type CodingProviderSessionHandle,
  type ModelConfig,
  type ModelPort,
  prepareStateDir,
  resolveTurnOptions,
  type SessionInspection,
  type SessionOwner,
  type TurnOptions,
  turnIdOf,
} from '@holdfast/provider-core';
import type { ProviderSessions, SessionStart } from '../provider-sessions.js';
import { type ApiAgentConfig, modelConfigOf } from './api-config.js';
import { ApiSession } from './api-session.js';
import { type ApiTurnRequest, runApiTurn } from './api-turn.js';
import { McpToolBox } from './tools/mcp-tool-box.js';
import type { ToolBox } from './tools/tool-box.js';

interface ApiSessionsOptions {
  readonly provider: string;
  readonly config: ApiAgentConfig;
  /** The caller's name of the session; a session nobody named is named by its first turn. */
  readonly sessionId?: string | undefined;
  readonly stateDir: string;
  readonly openModel: (config: ModelConfig) => Promise<ModelPort>;
  /** The configured MCP servers when absent. Tests hand in theirs. */
  readonly toolBox?: ToolBox | undefined;
  readonly openMs?: number | undefined;
}

const DEFAULT_OPEN_MS = 60_000;

/** The sessions of one API agent: our own transcript in place of a provider's, our own loop in place of a CLI. */
export class ApiSessions implements ProviderSessions {
  readonly #options: ApiSessionsOptions;
  readonly #toolBox: ToolBox;
  readonly #sessions = new Map<string, ApiSession>();
  #model: Promise<ModelPort> | undefined;
  #running = 0;
  #isReleased = false;

  constructor(options: ApiSessionsOptions) {
    this.#options = options;
    const { mcpServers: servers = {}, workingDir } = options.config;
    const openMs = options.openMs ?? DEFAULT_OPEN_MS;
    this.#toolBox = options.toolBox ?? new McpToolBox({ servers, workingDir, openMs });
  }

  /** A retried first turn finds the session it made: the session is named by the turn. */
  readonly start = (request: SessionStart): CodingAgentTurn => {
    const turnId = turnIdOf(request);
    const { message, earlier = [], sessionId = this.#options.sessionId ?? turnId } = request;
    const session = this.#session(sessionId);
    return this.#run({ session, message, begin: { earlier } }, { ...request, turnId });
  };

  readonly continue: ProviderSessions['continue'] = (handle, message, options) =>
    this.#run({ session: this.#sessionOf(handle), message }, options);

  readonly inspect = async (handle: CodingProviderSessionHandle): Promise<SessionInspection> => {
    const session = this.#sessionOf(handle);
    const observed = await session.observeOwner();
    const isHeld = observed.state === 'held';
    const process = isHeld ? 'alive' : observed.state === 'free' ? 'gone' : 'unknown';
    const shown = { process, ...(isHeld ? { activity: 'busy' as const } : {}) } as const;
    const owner: SessionOwner | undefined = isHeld
      ? { kind: 'ours', pid: observed.owner.pid, hostId: observed.owner.hostId }
      : undefined;
    const known = owner ? { ...shown, owner } : shown;
    try {
      const { header, lastTurn } = await session.transcript.refresh();
      const openTurnId = lastTurn && !lastTurn.outcome ? lastTurn.turnId : undefined;
      return {
        ...known,
        state: header ? 'present' : 'absent',
        provisional: header !== undefined && lastTurn === undefined,
        ...(openTurnId === undefined ? {} : { openTurnId }),
        handle: session.handle(isHeld ? 'active' : undefined),
      };
    } catch {
      // A transcript that cannot be read is unknown, never absent.
      return { ...known, state: 'unknown', provisional: false, handle };
    }
  };

  readonly close: ProviderSessions['close'] = async (handle, options): Promise<CloseResult> => {
    const session = this.#sessionOf(handle);
    const { archive = false } = options;
    await using lease = await session.takeLease(
      resolveTurnOptions({}),
      new AbortController().signal,
    );
    const { header } = await session.transcript.refresh();
    await session.transcript.repair(lease);
    if (header) {
      const body = { type: 'session_closed', archived: archive } as const;
      await session.transcript.append(body, lease, { sync: true });
    }
    const endedProcesses = await this.#toolBox.close();
    const { archived } = session.transcript.state;
    return { handle: session.handle('closed'), endedProcesses, archived };
  };

  readonly checkConfig = (handle: CodingProviderSessionHandle): void => {
    const { stableFields } = handle;
    if (stableFields) this.#sessionOf(handle).checkStable(stableFields);
  };

  /** The session of this handle or id, as it stands in its transcript; absent where there is no transcript. */
  async find(sessionId: string): Promise<ApiSession | undefined> {
    const session = this.#session(sessionId);
    const { header } = await session.transcript.refresh();
    return header && session;
  }

  /** Lets the MCP servers go, once no turn runs; the next turn connects them again. */
  readonly release = async (): Promise<void> => {
    this.#isReleased = true;
    if (this.#running === 0) await this.#toolBox.close();
  };

  #run(
    request: Pick<ApiTurnRequest, 'session' | 'message' | 'begin'>,
    given: TurnOptions,
  ): CodingAgentTurn {
    const options = resolveTurnOptions(given);
    const { provider, config, stateDir } = this.#options;
    if (given.transport !== undefined && given.transport !== 'auto') {
      throw new TypeError(`A model API has no transport ${given.transport}.`);
    }
    return beginTurn(turnIdOf(given), given.signal, async (live) => {
      this.#running += 1;
      this.#isReleased = false;
      try {
        await prepareStateDir(stateDir);
        const openModel = () => this.#openModel();
        const parts = { ...request, provider, config, options, openModel, toolBox: this.#toolBox };
        return await runApiTurn(parts, live);
      } finally {
        this.#running -= 1;
        if (this.#isReleased) await this.release();
      }
    });
  }

  #openModel(): Promise<ModelPort> {
    const opened = this.#model ?? this.#options.openModel(modelConfigOf(this.#options.config));
    this.#model = opened;
    // A peer that is installed meanwhile is found by the next turn.
    opened.catch(() => {
      this.#model = undefined;
    });
    return opened;
  }

  #sessionOf({ nativeSessionId }: CodingProviderSessionHandle): ApiSession {
    return this.#session(nativeSessionId ?? '');
  }

  /** Kept, so that a long transcript is read once and then only as it grows. */
  #session(sessionId: string): ApiSession {
    const { provider, config, stateDir } = this.#options;
    const session =
      this.#sessions.get(sessionId) ?? new ApiSession({ stateDir, sessionId, provider, config });
    this.#sessions.set(sessionId, session);
    return session;
  }
}
