import { isAbsolute } from 'node:path';
import { findOptionsNotTaken } from '../providers/ways.js';
import type { ProviderDefinition } from '../spec/provider-definition.js';
import type { SessionConfig } from '../spec/session-config.js';

/** Throws a TypeError for a config that asks for what no way of the provider can take. */
export function checkOptionsTaken(definition: ProviderDefinition, config: SessionConfig): void {
  const [option] = findOptionsNotTaken(definition, config);
  if (option === undefined) return;
  throw new TypeError(`${definition.displayName} cannot be launched with config.${option}.`);
}

/** Throws a TypeError for a config that no session can be launched with, wherever it runs. */
export function checkConfig(config: SessionConfig): void {
  if (typeof config !== 'object' || config === null) {
    throw new TypeError('config must be an object with a workingDir.');
  }
  checkAbsolute('workingDir', config.workingDir);
  // The CLI runs in the working directory, where a relative path would name another place than here.
  if (config.cliHome !== undefined) checkAbsolute('cliHome', config.cliHome);
  if (config.nudge !== undefined && !config.nudge.trim()) {
    throw new TypeError('config.nudge must not be blank: an empty message starts no turn.');
  }
  checkWritableRoots(config);
  checkLauncher(config);
  checkSchema(config.outputSchema);
}

function checkLauncher({ launcher, cliHome }: SessionConfig): void {
  if (launcher === undefined) return;
  checkAbsolute('launcher', launcher[0]);
  if (!launcher.every((word) => typeof word === 'string')) {
    throw new TypeError('config.launcher must hold words only.');
  }
  // Its default one is in the user's home and beside it: a CLI that may not write there never comes up.
  if (cliHome === undefined) {
    throw new TypeError('config.launcher needs config.cliHome, a home that it leaves writable.');
  }
}

function checkWritableRoots({ writableRoots, toolPolicy }: SessionConfig): void {
  if (writableRoots === undefined) return;
  for (const root of writableRoots) checkAbsolute('writableRoots', root);
  const { permissions = 'ask', inherit } = toolPolicy ?? {};
  if ((permissions === 'ask' || permissions === 'edit') && !inherit) return;
  throw new TypeError(
    `config.writableRoots goes with the permissions ask or edit of our own, not with ${inherit ? 'inherited ones' : permissions}.`,
  );
}

function checkSchema(schema: unknown): void {
  if (schema === undefined) return;
  if (typeof schema === 'object' && schema !== null && !Array.isArray(schema)) return;
  throw new TypeError('config.outputSchema must be a JSON schema, as an object.');
}

function checkAbsolute(name: string, path: unknown): void {
  if (typeof path === 'string' && isAbsolute(path)) return;
  throw new TypeError(`config.${name} must be an absolute path, not ${JSON.stringify(path)}.`);
}
