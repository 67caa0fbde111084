import { isAbsolute } from 'node:path';
import {
  NonApplicableError,
  NonContinuableError,
  StaleHandleError,
} from '../errors/continuation-error.js';
import { NativeHistoryMissingError } from '../errors/turn-error.js';
import { findProvider } from '../providers/registry.js';
import type { ProviderDefinition } from '../spec/provider-definition.js';
import type { CodingProviderSessionHandle, Transport } from '../spec/provider-session-handle.js';
import type { SessionConfig } from '../spec/session-config.js';
import { type LaunchRecord, readLaunchRecord } from '../state/launch-record.js';
import { isPathPart, type StateLayout, stateLayout } from '../state/state-layout.js';
import { isoInstant } from '../time/clock.js';
import { checkStableFields } from './check-stable-fields.js';
import { listCandidates, type TransportChoice } from './choose-way.js';
import { newRecord, wayOfRecord } from './new-record.js';
import { type Preflight, preflight } from './preflight.js';
import { Session } from './session.js';
import { stableDigests } from './stable-digests.js';
import { transportOf } from './transport-of.js';
import type { ResolvedTurnOptions } from './turn-options.js';

/** A handle whose parts were found to be there. */
export interface CheckedHandle {
  readonly definition: ProviderDefinition;
  readonly handle: CodingProviderSessionHandle;
  readonly nativeSessionId: string;
}

/** Checks that a handle can name a session of a provider we drive, or throws what is missing. Pure. */
export function checkHandle(handle: CodingProviderSessionHandle): CheckedHandle {
  const definition = findProvider(handle.provider);
  if (handle.transport === 'api') throw new NonApplicableError(handle.provider);
  if (!definition) {
    throw new NonContinuableError(handle.provider, 'provider', 'no such provider is registered');
  }
  if (!hasTransport(definition, handle.transport)) {
    throw new NonContinuableError(definition.id, 'transport', `${handle.transport} is not claimed`);
  }
  const { nativeSessionId, workingDir } = handle;
  if (nativeSessionId === undefined || !isPathPart(nativeSessionId)) {
    throw new NonContinuableError(
      definition.id,
      'native_session_id',
      nativeSessionId === undefined
        ? undefined
        : `${JSON.stringify(nativeSessionId.slice(0, 80))} is no native id`,
    );
  }
  if (workingDir !== undefined && !isAbsolute(workingDir)) {
    throw new NonContinuableError(definition.id, 'working_dir', `${workingDir} is not absolute`);
  }
  return { definition, handle, nativeSessionId };
}

function hasTransport({ transports }: ProviderDefinition, transport: Transport): boolean {
  const { tmux, structured, perTurn } = transports;
  return transport === 'tmux' ? tmux !== undefined : (structured ?? perTurn) !== undefined;
}

/** Loads the session behind a handle and checks everything that must be as before. Sends and starts nothing. */
export async function resolveSession(
  { definition, handle, nativeSessionId }: CheckedHandle,
  given: SessionConfig | undefined,
  options: ResolvedTurnOptions,
): Promise<Session> {
  const layout = stateLayout(options.stateDir);
  const stored = await readLaunchRecord(layout, definition.id, nativeSessionId);
  if (!stored) return adoptSession({ definition, handle, nativeSessionId }, given, layout, options);
  checkContinuable(definition, stored);
  checkUnchanged(definition, stored, handle, given);
  const record = given
    ? { ...stored, config: { ...given, workingDir: stored.config.workingDir } }
    : stored;
  const found = await preflight(
    definition,
    { ...record.config, cliHome: stored.cliHome },
    versionsFile(layout),
  );
  return makeSession(
    definition,
    layout,
    { ...found, cliHome: stored.cliHome },
    record,
    handle,
    options,
  );
}

/** Where the versions of known binaries are kept. */
export function versionsFile(layout: StateLayout): string {
  return `${layout.root}/binaries.json`;
}

function checkContinuable(definition: ProviderDefinition, stored: LaunchRecord): void {
  if (stored.archived) throw new NonContinuableError(definition.id, 'history', 'it was archived');
  if (!stored.acknowledged) {
    throw new NonContinuableError(
      definition.id,
      'acknowledged_turn',
      'its first message was never taken in; start it again with the same turnId',
    );
  }
}

function checkUnchanged(
  definition: ProviderDefinition,
  stored: LaunchRecord,
  handle: CodingProviderSessionHandle,
  given: SessionConfig | undefined,
): void {
  const { stableFields } = definition.capabilities;
  if (handle.workingDir !== undefined && handle.workingDir !== stored.config.workingDir) {
    throw new StaleHandleError(definition.id, 'working_dir');
  }
  checkStableFields(definition.id, stored.stableFields, handle.stableFields ?? {}, stableFields);
  if (!given) return;
  const digests = stableDigests(definition.id, given, stableFields);
  checkStableFields(definition.id, stored.stableFields, digests, stableFields);
  if (given.cliHome !== undefined && given.cliHome !== stored.cliHome) {
    throw new StaleHandleError(definition.id, 'account');
  }
}

/** A handle without a launch record (a legacy file, another machine's): the caller's config becomes the baseline. */
async function adoptSession(
  { definition, handle, nativeSessionId }: CheckedHandle,
  config: SessionConfig | undefined,
  layout: StateLayout,
  options: ResolvedTurnOptions,
): Promise<Session> {
  if (!config)
    throw new NonContinuableError(definition.id, 'launch_record', 'give the session config once');
  const digests = stableDigests(definition.id, config, definition.capabilities.stableFields);
  checkStableFields(
    definition.id,
    handle.stableFields ?? {},
    digests,
    definition.capabilities.stableFields,
  );
  if (handle.workingDir !== undefined && handle.workingDir !== config.workingDir) {
    throw new StaleHandleError(definition.id, 'working_dir');
  }
  const found = await preflight(definition, config, versionsFile(layout));
  const record: LaunchRecord = {
    ...newRecord(definition, config, found, {
      at: isoInstant(options.clock),
      ways: await listCandidates(definition, choiceOf(handle), config),
      choice: choiceOf(handle),
    }),
    nativeSessionId,
    acknowledged: true,
    revision: handle.revision ?? 0,
  };
  const session = makeSession(definition, layout, found, record, handle, options);
  const history = await session.transport.readRecord(session.context(), undefined);
  if (history.state !== 'readable') {
    throw new NativeHistoryMissingError(
      nativeSessionId,
      `the provider's record is ${history.state}`,
    );
  }
  // Not saved here: only whoever gets the lease may make the record, or two would overwrite each other's nonce.
  return session;
}

function choiceOf({ transport }: CodingProviderSessionHandle): TransportChoice {
  return transport === 'structured' ? 'structured' : 'auto';
}

/** Puts a session together from its parts. */
export function makeSession(
  definition: ProviderDefinition,
  layout: StateLayout,
  found: Preflight,
  record: LaunchRecord,
  handle: CodingProviderSessionHandle | undefined,
  { clock, logger }: ResolvedTurnOptions,
): Session {
  return new Session({
    definition,
    transports: (way) => transportOf(definition, way),
    way: wayOfRecord(record),
    layout,
    preflight: found,
    record,
    clock,
    logger,
    ...(handle ? { givenHandle: handle } : {}),
  });
}
