import { NonContinuableError, StaleHandleError } from '../../errors/continuation-error.js';
import {
  CliUnusableError,
  NativeHistoryMissingError,
  SessionBusyError,
} from '../../errors/turn-error.js';
import type { RecordCursor } from '../../spec/record-event.js';
import type { PermissionLevel } from '../../spec/session-config.js';
import type { GivenUp, TurnProcess } from '../../spec/turn-process.js';
import { followJsonLines } from '../../state/follow-json-lines.js';
import { readJsonLines } from '../../state/json-lines.js';
import { isStateUnusable } from '../../state/state-error.js';
import { EventQueue } from '../served-pane/event-queue.js';
import { findWriter } from '../served-pane/find-writer.js';
import type { FollowedEvent } from '../session-transport.js';
import { readGivenUp } from './given-up.js';
import {
  observeTurnProcess,
  readProcessRecord,
  removeProcessRecord,
  turnFiles,
} from './process-record.js';
import { endTurn } from './turn-end.js';
import type { TurnSessionParts } from './turn-process-session.js';

export interface FollowTurnRequest extends TurnSessionParts {
  readonly since: RecordCursor;
  readonly signal: AbortSignal;
}

/** How often the process is looked at. */
const LOOK_MS = 50;
/** What a process wrote last is read before its end is told. */
const LAST_WORDS_MS = 400;

/** Everything the record says from the cursor on, and the end of the process where its turn has none. */
export async function* followTurnProcess(
  request: FollowTurnRequest,
): AsyncGenerator<FollowedEvent, void, undefined> {
  const queue = new EventQueue<FollowedEvent>();
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, request.signal]);
  signal.addEventListener('abort', () => queue.end(), { once: true });
  if (signal.aborted) queue.end();
  const sources = [readOn(request, queue, signal), watchProcess(request, queue, signal)];
  try {
    yield* queue;
  } finally {
    stop.abort();
    await Promise.all(sources);
  }
}

async function readOn(
  request: FollowTurnRequest,
  queue: EventQueue<FollowedEvent>,
  signal: AbortSignal,
): Promise<void> {
  const { way, context, recordPath, since } = request;
  const reader = way.record.createReader();
  const options = { fromByte: since.length, fileId: since.fileId, signal, clock: context.clock };
  try {
    for await (const line of followJsonLines(since.path ?? recordPath, options)) {
      if (line.replaced) {
        queue.push({ kind: 'transport_lost', why: 'the record is another file now' });
        return;
      }
      await refuseLooser(request, line.value);
      for (const event of reader.read(line.value)) {
        queue.push({ kind: 'record', event, durable: true });
      }
    }
  } catch (error) {
    if (signal.aborted) return;
    if (isStateUnusable(error)) queue.push({ kind: 'transport_lost', why: error.message });
    else queue.fail(error);
  }
}

const STRICT_TO_LOOSE: readonly PermissionLevel[] = ['read_only', 'ask', 'edit', 'full'];

/** A turn that its own record calls looser than the session is ended at once. */
async function refuseLooser({ way, context }: FollowTurnRequest, line: unknown): Promise<void> {
  const permissions = way.readSettings(line)?.permissions;
  const allowed = context.config.toolPolicy?.permissions ?? 'ask';
  if (permissions === undefined) return;
  if (STRICT_TO_LOOSE.indexOf(permissions) <= STRICT_TO_LOOSE.indexOf(allowed)) return;
  const record = await readProcessRecord(context.filesDir);
  if (record) await endTurn(record, context);
  throw new StaleHandleError(context.definition.id, 'tool_policy', {
    old: allowed,
    new: permissions,
  });
}

/** Checks whose session the process opened, and tells when it has ended. */
async function watchProcess(
  request: FollowTurnRequest,
  queue: EventQueue<FollowedEvent>,
  signal: AbortSignal,
): Promise<void> {
  const { context } = request;
  let isChecked = false;
  try {
    for (;;) {
      const record = await readProcessRecord(context.filesDir);
      const isGone = !record || observeTurnProcess(record) === 'dead';
      if (!isChecked) isChecked = await checkIdentity(request, queue);
      if (isGone) break;
      await context.clock.sleep(LOOK_MS, signal);
    }
    await context.clock.sleep(LAST_WORDS_MS, signal);
    await tellGivenUp(request);
    queue.push({ kind: 'transport_lost', why: 'the process of the turn has ended' });
  } catch (error) {
    if (!signal.aborted) queue.fail(error);
  }
}

/** Which session the process has said that it opened. */
async function findOpened({ way, context }: FollowTurnRequest): Promise<string | undefined> {
  const output = await readJsonLines(turnFiles(context.filesDir).output);
  if (output === 'absent') return undefined;
  return output.lines.map(({ value }) => way.readOpened(value)).find(Boolean);
}

/** True once the process has said which session it opened. Another one is ended with its process. */
async function checkIdentity(
  request: FollowTurnRequest,
  queue: EventQueue<FollowedEvent>,
): Promise<boolean> {
  const { context } = request;
  const opened = await findOpened(request);
  if (opened === undefined) return false;
  if (opened === context.nativeSessionId) return true;
  const record = await readProcessRecord(context.filesDir);
  if (record) await endTurn(record, context);
  queue.push({ kind: 'identity_changed', nativeSessionId: opened });
  return true;
}

/** Throws what a process that gave up before it took the message in said of it. */
async function tellGivenUp(request: FollowTurnRequest): Promise<void> {
  const { way, context } = request;
  const givenUp = await readGivenUp(way, context.filesDir, {
    hasOpened: (await findOpened(request)) !== undefined,
  });
  if (!givenUp) return;
  await removeProcessRecord(context.filesDir);
  throw await givenUpError(way, context, givenUp);
}

async function givenUpError(
  way: TurnProcess,
  { definition, nativeSessionId, binary, cliHome }: FollowTurnRequest['context'],
  { reason, detail }: GivenUp,
): Promise<Error> {
  switch (reason) {
    case 'held_elsewhere': {
      const writer = await findWriter(way, { cliHome, nativeSessionId });
      return new SessionBusyError({ kind: 'foreign', pid: writer?.pid });
    }
    case 'archived':
      return new NonContinuableError(definition.id, 'history', 'it was archived');
    case 'no_record':
    case 'unusable_record':
      return new NativeHistoryMissingError(nativeSessionId, detail);
    case 'other':
      return new CliUnusableError(binary, 'exited', `it gave up: ${detail}. Nothing was sent.`);
  }
}
