import { join } from 'node:path';
import type { ProviderDefinition } from '../spec/provider-definition.js';
import type { SessionConfig } from '../spec/session-config.js';
import type { ImagePart } from '../spec/turn.js';
import { readLaunchRecord, saveLaunchRecord } from '../state/launch-record.js';
import { prepareStateDir } from '../state/prepare-state-dir.js';
import type { SessionTransport } from '../transports/session-transport.js';
import { beginTurn } from './begin-turn.js';
import type { TransportChoice } from './choose-way.js';
import { newRecord } from './new-record.js';
import { runInSession } from './run-in-session.js';
import { type ScriptedProvider, scriptedTransport } from './scripted-transport.js';
import { Session } from './session.js';
import { resolveTurnOptions, type TurnOptions } from './turn-options.js';

const definition: ProviderDefinition = {
  id: 'scripted',
  displayName: 'Scripted',
  binary: 'scripted',
  minimumVersion: '1.0.0',
  readVersion: (output) => output,
  cliHome: { variable: 'SCRIPTED_HOME', defaultName: '.scripted' },
  nativeIdChosenBy: 'us',
  legacySessionIdKey: 'scripted_session_id',
  certifiedVersion: '1.0.0',
  // Only a transport acts on a declaration, and this one's is scripted.
  transports: { tmux: Object.create(null) },
  capabilities: {
    tmuxContinuation: true,
    nativeResumeInTmux: true,
    requiresStableWorkingDir: true,
    continuation: 'native',
    process: { outlives: true },
    durableBeforeTools: true,
    finishesInterruptedTurns: false,
    stableFields: ['working_dir', 'model'],
    settings: {
      model: 'reported',
      permissions: 'reported',
      systemPrompt: 'repeated, not reported',
      mcpServers: 'repeated, not reported',
    },
    verbs: {
      interrupt: true,
      steer: true,
      approve: false,
      answer_question: false,
      archive: false,
      images: false,
      background_work: false,
      compaction: false,
      usage: true,
      cost: false,
    },
    normalises: [],
  },
};
const twoWays: ProviderDefinition = {
  ...definition,
  transports: {
    ...definition.transports,
    structured: Object.assign(Object.create(null), {
      capabilities: { verbs: { ...definition.capabilities.verbs, images: true } },
    }),
  },
};
/** The scripted session's id. */
export const nativeSessionId = '11111111-1111-4111-8111-111111111111';
/** The turn's id where a test names none. */
export const turnId = '22222222-2222-4222-8222-222222222222';

/** What a test may change about a scripted turn. */
export interface ScriptedTurnOptions extends Omit<TurnOptions, 'transport'> {
  readonly stateDir: string;
  readonly id?: string;
  readonly nudge?: string;
  /** The transport in place of the plain scripted one. */
  readonly transport?: SessionTransport;
  readonly images?: readonly ImagePart[];
  /** A second way, without a terminal; it takes images. */
  readonly structured?: SessionTransport;
  /** What the caller asks of each turn; tmux when absent. */
  readonly choice?: TransportChoice;
}

async function scriptedSession(
  { stateDir, nudge, transport, structured }: ScriptedTurnOptions,
  provider: ScriptedProvider,
): Promise<Session> {
  const layout = await prepareStateDir(stateDir);
  const options = resolveTurnOptions({ stateDir });
  const preflight = {
    binary: '/bin/true',
    cliVersion: '1.0.0',
    cliHome: join(stateDir, '..', 'home'),
  };
  const config: SessionConfig = { workingDir: '/', nudge };
  const record = {
    ...newRecord(definition, config, preflight, { at: 'now', ways: ['tmux'], choice: 'tmux' }),
    nativeSessionId,
    acknowledged: true,
  };
  const known = await readLaunchRecord(layout, definition.id, nativeSessionId);
  if (!known) await saveLaunchRecord(layout, record);
  const only = transport ?? scriptedTransport(provider);
  return new Session({
    definition: structured ? twoWays : definition,
    transports: (way) => (way === 'structured' && structured ? structured : only),
    way: 'tmux',
    layout,
    preflight,
    record: known ? { ...known, config } : record,
    clock: options.clock,
    logger: options.logger,
  });
}

/** Begins a turn with a {@link ScriptedProvider}. Wrapped: a turn is awaitable, an async function would await it. */
export async function beginScripted(
  provider: ScriptedProvider,
  text: string,
  request: ScriptedTurnOptions,
) {
  const {
    id = turnId,
    nudge: _nudge,
    transport: _transport,
    structured: _structured,
    images = [],
    choice,
    ...more
  } = request;
  const session = await scriptedSession(request, provider);
  const options = resolveTurnOptions({ ...more, transport: choice });
  const turn = beginTurn(id, more.signal, (live) =>
    runInSession({
      session,
      message: { text, images },
      live,
      options,
      expectsLive: false,
    }),
  );
  return { turn };
}
