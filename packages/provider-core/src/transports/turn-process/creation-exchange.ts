import { CliUnusableError } from '../../errors/turn-error.js';
import type { TurnProcess } from '../../spec/turn-process.js';
import { endProcesses, listProcessTree } from '../../state/process-tree.js';
import { waitUntil } from '../../time/wait-until.js';
import { createChildEnvironment, resolveValue } from '../child-environment.js';
import { JsonRpcConnection, type JsonRpcLimits } from '../json-rpc/json-rpc-connection.js';
import { JsonRpcLost, JsonRpcRefusal } from '../json-rpc/json-rpc-error.js';
import { spawnPiped } from '../run-process.js';
import type { SessionContext } from '../session-transport.js';
import { createLineChannel } from './line-channel.js';

const CLIENT = { name: 'holdfast', version: '1' };
const LEAVE_MS = 3_000;

/** The call of an exchange that is under way. */
export type ExchangeCall = (call: {
  readonly method: string;
  readonly params: unknown;
}) => Promise<unknown>;

/**
 * Starts the provider's JSON-RPC over pipes for as long as `talk` takes. It calls no model, and ends with us: a service
 * that dies closes the pipe.
 */
export async function exchange<Result>(
  way: TurnProcess,
  context: SessionContext,
  limits: JsonRpcLimits,
  talk: (call: ExchangeCall) => Promise<Result>,
): Promise<Result> {
  const { config, cliHome, nonce, binary } = context;
  const { creation } = way;
  const { args, env } = creation.launch({ config, cliHome, apiKey: apiKeyOf(context) });
  const child = await spawnPiped({
    file: binary,
    args,
    env: createChildEnvironment({ config, added: env, nonce }),
    workingDir: config.workingDir,
  });
  try {
    using connection = new JsonRpcConnection(createLineChannel(child), {
      onNotification: () => {},
      onRequest: ({ reply }) => reply(undefined),
    });
    await connection.request(creation.initialize(CLIENT), limits);
    connection.notify(creation.initialized);
    return await talk((call) => connection.request(call, limits));
  } catch (error) {
    throw exchangeError(context, error);
  } finally {
    await leave(child.pid, context);
  }
}

/** The endpoint's key, from wherever it is kept. */
export function apiKeyOf({ config }: SessionContext): string | undefined {
  const apiKey = config.endpoint?.apiKey;
  return apiKey === undefined ? undefined : resolveValue(apiKey, 'config.endpoint.apiKey');
}

/** Its input is closed by now, which ends it; what it has written is whole then. */
async function leave(pid: number | undefined, { clock }: SessionContext): Promise<void> {
  if (pid === undefined) return;
  const tree = listProcessTree(pid);
  await waitUntil(() => listProcessTree(pid).length === 0, {
    awaiting: 'the end of the exchange',
    deadlineMs: LEAVE_MS,
    clock,
  }).catch(() => endProcesses(tree, { graceMs: 0, clock }));
}

function exchangeError({ binary }: SessionContext, error: unknown): unknown {
  if (error instanceof JsonRpcRefusal) {
    return new CliUnusableError(binary, 'unresponsive', `${error.message}. Nothing was sent.`);
  }
  if (error instanceof JsonRpcLost) {
    const reason = error.why === 'closed' ? 'exited' : 'unresponsive';
    return new CliUnusableError(binary, reason, `${error.message} Nothing was sent.`);
  }
  return error;
}
