import { realpathSync, type Stats, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { CliUnusableError } from '../errors/turn-error.js';
import { compareVersions } from '../providers/ways.js';
import type { ProviderDefinition } from '../spec/provider-definition.js';
import type { SessionConfig } from '../spec/session-config.js';
import { readJsonFile, writeFileAtomic } from '../state/atomic-write.js';
import { runProcess } from '../transports/run-process.js';

/** What a preflight finds out; it changes nothing of a session. */
export interface Preflight {
  readonly binary: string;
  readonly cliVersion: string;
  readonly cliHome: string;
}

/**
 * Finds the CLI, its version and its home, or throws `cli_unusable` naming what is missing or too old. Without a file for
 * known versions nothing is written.
 */
export async function preflight(
  definition: ProviderDefinition,
  config: SessionConfig,
  versionsFile: string | undefined,
): Promise<Preflight> {
  checkWorkingDir(config.workingDir);
  const binary = findBinary(definition, config);
  const cliVersion = await readCliVersion(definition, binary, versionsFile);
  if (compareVersions(cliVersion, definition.minimumVersion) < 0) {
    throw new CliUnusableError(
      binary,
      'too_old',
      `its version is ${cliVersion}, ${definition.displayName} ${definition.minimumVersion} or newer is needed. Update it.`,
    );
  }
  return { binary, cliVersion, cliHome: cliHomeOf(definition, config) };
}

/** The CLI's own home: the configured one, else the CLI's own variable, else its default. */
export function cliHomeOf(
  definition: ProviderDefinition,
  config: Pick<SessionConfig, 'cliHome'>,
): string {
  const fromEnvironment = process.env[definition.cliHome.variable];
  return config.cliHome ?? (fromEnvironment || join(homedir(), definition.cliHome.defaultName));
}

function checkWorkingDir(workingDir: string): void {
  const found = look(workingDir);
  if (!found?.isDirectory()) {
    throw new CliUnusableError(
      workingDir,
      'working_dir_missing',
      'the working directory does not exist. Create it or name another.',
    );
  }
}

/** What stands at a path, if it can be seen. */
function look(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function findBinary(definition: ProviderDefinition, config: SessionConfig): string {
  const candidates = config.binary
    ? [config.binary]
    : (process.env['PATH'] ?? '')
        .split(delimiter)
        .filter((folder) => isAbsolute(folder))
        .map((folder) => join(folder, definition.binary));
  for (const candidate of candidates) {
    const found = look(candidate);
    if (found?.isFile() && (found.mode & 0o111) !== 0) return realpathSync.native(candidate);
  }
  throw new CliUnusableError(
    config.binary ?? definition.binary,
    'missing',
    `${definition.displayName} was not found as an executable file. Install it, or set config.binary.`,
  );
}

/** Versions by binary fingerprint, so that a CLI is asked once an installation, not once a turn. */
const known = new Map<string, string>();

async function readCliVersion(
  definition: ProviderDefinition,
  binary: string,
  versionsFile: string | undefined,
): Promise<string> {
  const { mtimeMs, size, ino } = statSync(binary);
  const fingerprint = `${binary}:${ino}:${size}:${mtimeMs}`;
  const cached = known.get(fingerprint) ?? (await readStoredVersion(versionsFile, fingerprint));
  if (cached) return cached;
  const version = await askVersion(definition, binary);
  known.set(fingerprint, version);
  if (versionsFile !== undefined)
    await writeFileAtomic(versionsFile, JSON.stringify(Object.fromEntries(known)));
  return version;
}

async function readStoredVersion(
  file: string | undefined,
  fingerprint: string,
): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const stored = await readJsonFile(file);
  if (stored.state !== 'present' || typeof stored.value !== 'object') return undefined;
  for (const [key, version] of Object.entries(stored.value ?? {})) {
    if (typeof version === 'string') known.set(key, version);
  }
  return known.get(fingerprint);
}

async function askVersion(definition: ProviderDefinition, binary: string): Promise<string> {
  const result = await runProcess({
    file: binary,
    args: ['--version'],
    env: { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', LANG: 'C.UTF-8' },
    workingDir: '/',
    timeoutMs: 30_000,
  });
  const version = definition.readVersion(result.stdout);
  if (result.outcome === 'exited' && version !== undefined) return version;
  throw new CliUnusableError(
    binary,
    'exited',
    `it ended (${result.reason ?? `exit code ${result.exitCode}`}) without telling its version: ${`${result.stderr}${result.stdout}`.trim().slice(-300)}`,
  );
}
