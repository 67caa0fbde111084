import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { ServedLaunch, ServedPane } from '../../spec/served-pane.js';
import { stateLayout } from '../../state/state-layout.js';
import { resolveConfigEnv, resolveValue } from '../child-environment.js';
import type { SessionContext } from '../session-transport.js';

/** The one server that serves all sessions of a CLI home, binary, environment and endpoint. */
export interface ServerPlace {
  readonly digest: string;
  /** Absolute; holds the server's record, log, lock and the marks of its sessions. */
  readonly dir: string;
  /** Absolute path of the socket, 100 bytes at most. */
  readonly socketPath: string;
  readonly launch: ServedLaunch;
}

/** Which server a session belongs to. Another binary, environment or endpoint is another server. */
export function planServerPlace(way: ServedPane, context: SessionContext): ServerPlace {
  const { config, cliHome, binary, cliVersion, stateDir, tmuxSocket } = context;
  const apiKey = config.endpoint?.apiKey;
  const key = apiKey === undefined ? undefined : resolveValue(apiKey, 'config.endpoint.apiKey');
  const plan = (socketPath: string) =>
    way.serverLaunch({ config, cliHome, socketPath, apiKey: key });
  const env = resolveConfigEnv(config);
  const digest = sha256(JSON.stringify([binary, cliVersion, cliHome, plan(''), sorted(env)]));
  const socketName = `${sha256(`${stateDir}\0${digest}`).slice(0, 8)}.s`;
  // The folder of the tmux socket is private, made already, and short enough.
  const socketPath = join(dirname(tmuxSocket), socketName);
  const dir = join(stateLayout(stateDir).serversDir, digest.slice(0, 32));
  return { digest, dir, socketPath, launch: plan(socketPath) };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function sorted(env: Readonly<Record<string, string>>): readonly (readonly [string, string])[] {
  return Object.entries(env).toSorted(([one], [other]) => (one < other ? -1 : 1));
}
