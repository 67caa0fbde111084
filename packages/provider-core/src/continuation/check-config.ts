import { isAbsolute } from 'node:path';
import type { SessionConfig } from '../spec/session-config.js';

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
}

function checkAbsolute(name: string, path: unknown): void {
  if (typeof path === 'string' && isAbsolute(path)) return;
  throw new TypeError(`config.${name} must be an absolute path, not ${JSON.stringify(path)}.`);
}
