import {
  canonicalJson,
  isContinuationError,
  isTurnError,
  type Lease,
  type LiveTurn,
  type Message,
  type ModelPort,
  outgoingMessage,
  type ResolvedTurnOptions,
  StateUnusableError,
  TurnConflictError,
  TurnInterruptedError,
  type TurnResult,
  typedError,
  UndeliverableMessageError,
} from '@holdfast/provider-core';
import { type ConversationMessage, digestMessage } from '../message.js';
import { type ApiAgentConfig, apiStableDigests } from './api-config.js';
import type { ApiSession } from './api-session.js';
import { conversationOf, partsOf } from './build-messages.js';
import { type CompletedOutcome, positionOf, replay, runLoop } from './run-loop.js';
import type { ToolBox } from './tools/tool-box.js';
import { record, type TurnContext, turnOf } from './turn-context.js';

/** One turn of an API agent. */
export interface ApiTurnRequest {
  readonly provider: string;
  readonly config: ApiAgentConfig;
  readonly session: ApiSession;
  readonly message: Message;
  /** Absent: the session must exist. Otherwise it is begun where it does not, with this conversation behind it. */
  readonly begin?: { readonly earlier: readonly ConversationMessage[] } | undefined;
  readonly openModel: () => Promise<ModelPort>;
  readonly toolBox: ToolBox;
  readonly options: ResolvedTurnOptions;
}

/** Runs one turn under the session's lease: looks, decides, and only then changes anything. */
export async function runApiTurn(request: ApiTurnRequest, live: LiveTurn): Promise<TurnResult> {
  const { session, options } = request;
  checkDeliverable(request);
  await using lease = await session.takeLease(options, live.interrupted);
  await session.transcript.refresh();
  checkSession(request);
  if (session.transcript.state.header) live.knowHandle(session.handle());
  const stored = findStored(request, live);
  if (stored?.outcome) {
    await live.attachEvents(session.layout.turnEvents(live.turnId), { replay: true });
    return resultOf(request, live.turnId, replay(stored.outcome));
  }
  const context = await openTurn(request, live, lease);
  const outcome = await settle(context, runLoop);
  return resultOf(request, live.turnId, outcome);
}

/** A message that no vendor takes must not come into the transcript: every later request would be refused with it. */
function checkDeliverable({ message, begin }: ApiTurnRequest): void {
  for (const { content } of begin?.earlier ?? []) outgoingMessage(content);
  const { text, images } = outgoingMessage(message);
  if (text !== '' || images.length > 0) return;
  throw new UndeliverableMessageError('empty_message', 'No vendor takes an empty message.');
}

/** Read-only: a session that cannot be continued, or was begun otherwise, is left byte for byte as it is. */
function checkSession({ session, begin, provider, config }: ApiTurnRequest): void {
  const { header } = session.transcript.state;
  if (!header && begin) return;
  session.checkContinuable();
  if (header && (header.provider !== provider || header.model !== config.model)) {
    throw new StateUnusableError(
      session.layout.transcript,
      'damaged',
      'its first line names another provider or model than its own digests do.',
    );
  }
}

/** What the transcript has of this turn already. The same id with another message, or another past, is a conflict. */
function findStored({ session, message, begin }: ApiTurnRequest, { turnId }: LiveTurn) {
  const { state } = session.transcript;
  const stored = state.turn(turnId);
  if (stored && stored.messageDigest !== digestMessage('user', message)) {
    throw new TurnConflictError(turnId);
  }
  const isBegunHere = begin !== undefined && begin.earlier.length > 0 && state.header !== undefined;
  if (!isBegunHere) return stored;
  const given = canonicalJson(conversationOf(begin.earlier));
  if (canonicalJson(state.header?.conversation) !== given) throw new TurnConflictError(turnId);
  return stored;
}

async function openTurn(
  request: ApiTurnRequest,
  live: LiveTurn,
  lease: Lease,
): Promise<TurnContext> {
  const { session, options, message, config, toolBox } = request;
  const { turnId, interrupted: signal, emit } = live;
  const model = await request.openModel();
  const tools = await toolBox.open(signal);
  await session.transcript.repair(lease);
  await beginSession(request, lease);
  const recovered = session.transcript.state.turn(turnId) !== undefined;
  live.publishHandle(session.handle('active'));
  await live.attachEvents(session.layout.turnEvents(turnId), { replay: false });
  if (!recovered) {
    await options.onBeforeNativeChange({ turnId, handle: session.handle('active') });
  }
  if (recovered) emit({ type: 'resuming' });
  emit({ type: 'running' });
  return {
    turnId,
    message: partsOf(message),
    messageDigest: digestMessage('user', message),
    config,
    model,
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    toolBox,
    transcript: session.transcript,
    lease,
    options,
    signal,
    emit,
    recovered,
  };
}

async function beginSession(
  { session, begin, provider, config }: ApiTurnRequest,
  lease: Lease,
): Promise<void> {
  if (session.transcript.state.header || !begin) return;
  const { model, workingDir } = config;
  await session.transcript.append(
    {
      type: 'session_opened',
      sessionId: session.sessionId,
      provider,
      model,
      stableFields: apiStableDigests(provider, config),
      workingDir,
      conversation: conversationOf(begin.earlier),
    },
    lease,
    { sync: true },
  );
}

/** Runs the loop; whatever ends it is on record before it is told. */
async function settle(
  context: TurnContext,
  run: (context: TurnContext) => Promise<CompletedOutcome>,
): Promise<CompletedOutcome> {
  try {
    return await run(context);
  } catch (thrown) {
    const error = context.signal.aborted ? interruption(context) : typedError(thrown);
    if (!isTurnError(error) && !isContinuationError(error)) throw error;
    if (isTurnError(error)) error.turnId = context.turnId;
    // An error that cannot be recorded is still told: the transcript says that the turn is open, which is true.
    await keepError(context, error).catch(() => {});
    throw error;
  }
}

/** The caller's own interrupt, with what is known at this moment. It is final. */
function interruption(context: TurnContext): TurnInterruptedError {
  const position = positionOf(context);
  const accepted = position.at !== 'unknown';
  const doing = position.at === 'call_open' ? ` while the tool ${position.call.toolName} ran` : '';
  const why = `the caller interrupted it${accepted ? doing : ' before it was sent'}`;
  return new TurnInterruptedError({ accepted, inHistory: accepted, isFinal: true, why });
}

async function keepError(
  context: TurnContext,
  error: Extract<ReturnType<typeof typedError>, Error> | Error,
): Promise<void> {
  const { turnId, messageDigest, options } = context;
  if (!isTurnError(error) || turnOf(context)?.outcome) return;
  const json = error.toJSON();
  if (error.kind === 'turn_interrupted' && error.isFinal) {
    const outcome = { status: 'interrupted', error: json } as const;
    await record(context, { type: 'turn_ended', turnId, outcome, messageDigest });
    return;
  }
  options.logger.warn({ err: error, turn_id: turnId }, 'turn parked');
  if (turnOf(context)) await record(context, { type: 'turn_parked', turnId, error: json });
}

function resultOf(
  { session }: ApiTurnRequest,
  turnId: string,
  { status: _completed, ...outcome }: CompletedOutcome,
): TurnResult {
  return { ...outcome, handle: session.handle(), turnId };
}
