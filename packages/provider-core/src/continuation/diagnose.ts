import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isTurnError } from '../errors/turn-error.js';
import { findProvider, listProviders } from '../providers/registry.js';
import { capabilitiesOf, compareVersions, holdsFor, listWays } from '../providers/ways.js';
import type { Way } from '../spec/capabilities.js';
import type { ProviderDefinition } from '../spec/provider-definition.js';
import type { HandleStatus } from '../spec/provider-session-handle.js';
import { type LaunchRecord, peekLaunchRecord } from '../state/launch-record.js';
import { readLeaseOwner } from '../state/lease.js';
import { findProcessesWithVariable } from '../state/process-tree.js';
import { defaultStateDir, leaseDir, stateLayout } from '../state/state-layout.js';
import { runProcess } from '../transports/run-process.js';
import { checkVersionIsSupported } from '../transports/tmux/tmux-client.js';
import { cliHomeOf, preflight } from './preflight.js';

/** What this machine has, and what sessions of ours stand on it. JSON-safe; holds no text and no secret. */
export interface Diagnosis {
  readonly node: string;
  readonly stateDir: { readonly path: string; readonly exists: boolean };
  readonly tmux: ToolDiagnosis;
  readonly providers: readonly ProviderDiagnosis[];
  readonly sessions: readonly SessionDiagnosis[];
  /** Processes of sessions that this state directory does not know as living. */
  readonly leftovers: readonly LeftoverProcess[];
}

/** A program that is there and usable, or why it is not. */
export interface ToolDiagnosis {
  readonly usable: boolean;
  readonly version?: string | undefined;
  readonly path?: string | undefined;
  /** What is wrong and what to do. */
  readonly problem?: string | undefined;
}

/** One CLI: whether it is there, what was certified for it, and where it keeps its sessions. */
export interface ProviderDiagnosis extends ToolDiagnosis {
  readonly provider: string;
  readonly home: string;
  readonly homeExists: boolean;
  readonly certifiedVersion: string;
  /** The installed version is newer than any that was certified. */
  readonly isBeyondCertified: boolean;
  /** By way, the verbs that are claimed for the installed version. */
  readonly ways: Readonly<Partial<Record<Way, readonly string[]>>>;
}

/** One session of the state directory, as its record and the machine tell. */
export interface SessionDiagnosis {
  readonly provider: string;
  readonly nativeSessionId: string;
  readonly status: HandleStatus;
  readonly lease: 'free' | 'held' | 'unknown';
  readonly leasePid?: number | undefined;
  /** How many processes of it live. */
  readonly processes: number;
  readonly updatedAt: string;
}

/** A process of a session that should have none. */
export interface LeftoverProcess {
  readonly pid: number;
  /** `dead_session`: its session is closed or lost. `unknown_session`: no session of this state directory. */
  readonly of: 'dead_session' | 'unknown_session';
}

/** Looks at CLIs, tmux, homes, leases and leftovers; starts `--version` alone, changes and ends nothing. */
export async function diagnose({
  stateDir = defaultStateDir(),
}: DiagnoseOptions = {}): Promise<Diagnosis> {
  const records = await listRecords(stateDir);
  const marked = findProcessesWithVariable('HOLDFAST_NONCE');
  const sessions = await Promise.all(
    records.map((record) => diagnoseSession(record, marked.get(record.nonce)?.length ?? 0)),
  );
  const byNonce = new Map(records.map((record) => [record.nonce, record]));
  return {
    node: process.version,
    stateDir: { path: stateDir, exists: await exists(stateDir) },
    tmux: await diagnoseTmux(),
    providers: await Promise.all(listProviders().map(diagnoseProvider)),
    sessions,
    leftovers: [...marked].flatMap(([nonce, processes]) => {
      const record = byNonce.get(nonce);
      if (record && record.status !== 'closed' && record.status !== 'lost') return [];
      const of = record ? ('dead_session' as const) : ('unknown_session' as const);
      return processes.map(({ pid }) => ({ pid, of }));
    }),
  };
}

/** Where to look. */
export interface DiagnoseOptions {
  readonly stateDir?: string | undefined;
}

async function diagnoseProvider(id: string): Promise<ProviderDiagnosis> {
  const definition = findProvider(id);
  if (!definition) throw new Error('unreachable: a listed provider is registered');
  const home = cliHomeOf(definition, {});
  const tool = await findCli(definition);
  const { certifiedVersion } = definition;
  const version = tool.version ?? certifiedVersion;
  return {
    provider: id,
    ...tool,
    home,
    homeExists: await exists(home),
    certifiedVersion,
    isBeyondCertified: compareVersions(version, certifiedVersion) > 0,
    ways: Object.fromEntries(
      listWays(definition).map((way) => [way, listVerbs(definition, way, version)]),
    ),
  };
}

function listVerbs(definition: ProviderDefinition, way: Way, version: string): readonly string[] {
  const { verbs } = capabilitiesOf(definition, way);
  return Object.entries(verbs)
    .filter(([, claim]) => holdsFor(claim, version))
    .map(([verb]) => verb);
}

async function findCli(definition: ProviderDefinition): Promise<ToolDiagnosis> {
  try {
    const { binary, cliVersion } = await preflight(definition, { workingDir: '/' }, undefined);
    return { usable: true, version: cliVersion, path: binary };
  } catch (error) {
    if (!isTurnError(error)) throw error;
    return { usable: false, problem: error.message };
  }
}

async function diagnoseTmux(): Promise<ToolDiagnosis> {
  const env = { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8' };
  const result = await runProcess({ file: 'tmux', args: ['-V'], env, workingDir: '/' });
  const version = /tmux (\S+)/.exec(result.stdout)?.[1];
  if (result.outcome !== 'exited' || version === undefined) {
    return {
      usable: false,
      problem: 'tmux was not found. Install tmux 3.2 or newer, or use transport: structured.',
    };
  }
  try {
    checkVersionIsSupported(version);
    return { usable: true, version };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { usable: false, version, problem };
  }
}

async function diagnoseSession(record: LaunchRecord, processes: number): Promise<SessionDiagnosis> {
  const { provider, nativeSessionId, status, updatedAt, cliHome } = record;
  const lease = await readLeaseOwner(leaseDir(cliHome, nativeSessionId));
  const leasePid = lease.state === 'held' ? lease.owner.pid : undefined;
  return {
    provider,
    nativeSessionId,
    status,
    lease: lease.state,
    ...(leasePid === undefined ? {} : { leasePid }),
    processes,
    updatedAt,
  };
}

/** Every launch record that can be read; a damaged one is left where it is and left out. */
async function listRecords(stateDir: string): Promise<readonly LaunchRecord[]> {
  const layout = stateLayout(stateDir);
  const records: LaunchRecord[] = [];
  for (const provider of await names(layout.sessionsDir)) {
    for (const id of await names(join(layout.sessionsDir, provider))) {
      const record = await peekLaunchRecord(layout, provider, id);
      if (record) records.push(record);
    }
  }
  return records;
}

const names = (dir: string): Promise<readonly string[]> => readdir(dir).catch(() => []);

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
