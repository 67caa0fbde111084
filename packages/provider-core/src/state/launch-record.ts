import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { StateUnusableError } from '../errors/turn-error.js';
import type { Way } from '../spec/capabilities.js';
import type { HandleStatus, Transport } from '../spec/provider-session-handle.js';
import type { PermissionLevel, SessionConfig } from '../spec/session-config.js';
import type { Usage } from '../spec/turn.js';
import {
  type AtomicWriteOptions,
  moveAside,
  readJsonFile,
  writeFileAtomic,
} from './atomic-write.js';
import { launchRecordCodec } from './launch-record.wire.js';
import type { StateLayout } from './state-layout.js';

/** All that is needed to bring one session back: with it, a handle and a message are enough. */
export interface LaunchRecord {
  readonly schemaVersion: 1;
  readonly provider: string;
  /** How the last turn was driven. */
  readonly transport: Transport;
  /** What the caller asked for at the start; `auto` when absent. */
  readonly transportChoice?: 'auto' | 'tmux' | 'structured' | undefined;
  /** Every way a process of the session was started in; tmux alone when absent. */
  readonly ways?: readonly Way[] | undefined;
  readonly nativeSessionId: string;
  /** As the caller gave it: a secret is in it only when the caller gave its value. */
  readonly config: SessionConfig;
  /** Stable field to digest, as the session was started with. */
  readonly stableFields: Readonly<Record<string, string>>;
  readonly cliVersion: string;
  readonly cliHome: string;
  /** In the environment of every process of the session. */
  readonly nonce: string;
  /** Whether the provider has ever taken in a message of the session. */
  readonly acknowledged: boolean;
  readonly revision: number;
  readonly tmuxSession?: string | undefined;
  readonly status: HandleStatus;
  readonly archived: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly lastTurnId?: string | undefined;
  /** Of the whole session, as last told. */
  readonly sessionUsage?: Usage | undefined;
  /** What a resume may not be looser than. */
  readonly expectedPermissions?: PermissionLevel | undefined;
}

/** The session's launch record; absent when there is none. A damaged one is moved aside and thrown. */
export async function readLaunchRecord(
  layout: StateLayout,
  provider: string,
  nativeId: string,
): Promise<LaunchRecord | undefined> {
  const path = layout.launchRecord(provider, nativeId);
  const file = await readJsonFile(path);
  if (file.state === 'absent') return undefined;
  if (file.state === 'damaged') throw damaged(path, file.movedTo);
  refuseNewerSchema(path, file.value);
  const decoded = launchRecordCodec.safeParse(file.value);
  if (decoded.success) return decoded.data;
  throw damaged(path, await moveAside(path), z.prettifyError(decoded.error));
}

/** Only looks: a record that cannot be read is absent here, and stays as and where it is. */
export async function peekLaunchRecord(
  layout: StateLayout,
  provider: string,
  nativeId: string,
): Promise<LaunchRecord | undefined> {
  try {
    const text = await readFile(layout.launchRecord(provider, nativeId), 'utf8');
    return launchRecordCodec.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Replaces the session's launch record. */
export async function saveLaunchRecord(
  layout: StateLayout,
  record: LaunchRecord,
  options: Pick<AtomicWriteOptions, 'beforeInstall'> = {},
): Promise<void> {
  const path = layout.launchRecord(record.provider, record.nativeSessionId);
  const json = z.encode(launchRecordCodec, record);
  await writeFileAtomic(path, `${JSON.stringify(json, null, 2)}\n`, options);
}

function refuseNewerSchema(path: string, value: unknown): void {
  const version =
    typeof value === 'object' && value !== null && 'schema_version' in value
      ? value.schema_version
      : undefined;
  if (typeof version !== 'number' || version <= 1) return;
  throw new StateUnusableError(
    path,
    'newer_format',
    `it has schema version ${version}, this one reads 1. Nothing was touched; update holdfast.`,
  );
}

function damaged(path: string, movedTo: string, why = 'it is no JSON'): StateUnusableError {
  return new StateUnusableError(
    path,
    'damaged',
    `${why}. It was moved to ${movedTo}; repair and put it back, or remove it to go on without.`,
  );
}
