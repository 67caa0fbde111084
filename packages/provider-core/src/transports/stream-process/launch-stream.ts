import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { StaleHandleError } from '../../errors/continuation-error.js';
import { CliUnusableError, NativeHistoryMissingError } from '../../errors/turn-error.js';
import type { StreamProcess } from '../../spec/stream-process.js';
import { observePid, readProcessStatus } from '../../state/process-identity.js';
import { type FoundProcess, listProcessTree } from '../../state/process-tree.js';
import { waitUntil } from '../../time/wait-until.js';
import { createChildEnvironment, resolveValue } from '../child-environment.js';
import { spawnDetached } from '../run-process.js';
import type { OpenRequest, SessionContext } from '../session-transport.js';
import { clearRequests } from '../typed-pane/approver.js';
import {
  checkWorkingDir,
  endLeftovers,
  hasConversation,
  writePlannedFiles,
} from '../typed-pane/prepare-launch.js';
import { nativeIdOf, type RegisteredProcess, readRegistered } from '../typed-pane/session-files.js';
import { noteCostBefore, readLastCost } from './cost-before.js';
import { refuseStale } from './live-stream.js';
import { findStreamProcess, START_SCRIPT, saveStreamProcess, streamFiles } from './stream-files.js';
import { waitForHooks } from './wait-for-hooks.js';

/** Starts the CLI: with the session's id when it has no record yet, else resuming it. Resolves once it reads its input. */
export async function launchStream(
  way: StreamProcess,
  context: SessionContext,
  request: OpenRequest,
): Promise<{ readonly process: FoundProcess; readonly resumed: boolean }> {
  const { fence } = request;
  await checkWorkingDir(context);
  refuseStale(request);
  await endLeftovers(context);
  const resume = await hasConversation(way, context, request);
  if (resume) request.emit({ type: 'resuming' });
  const plan = way.launch({
    ...context,
    nativeSessionId: nativeIdOf(context),
    resume,
    finishInterruptedTurn: request.finishInterruptedTurn,
  });
  await clearRequests(way, context);
  await rm(join(context.filesDir, way.files.startSign), { force: true });
  const { finishing } = streamFiles(context);
  await rm(finishing, { force: true });
  if (resume && request.finishInterruptedTurn) await writeFile(finishing, '', { mode: 0o600 });
  await writePlannedFiles(context, plan.files);
  const lastCost = resume ? await readLastCost(way, context) : undefined;
  const added = Object.entries(plan.env).map(([name, value]) => [
    name,
    resolveValue(value, `the launch variable ${name}`),
  ]);
  const { config, nonce, binary, filesDir } = context;
  refuseStale(request);
  const { pid } = await spawnDetached({
    file: '/bin/sh',
    args: [
      ...['-c', START_SCRIPT, 'sh', filesDir],
      ...(config.launcher ?? []),
      ...[binary, ...plan.args],
    ],
    env: createChildEnvironment({ config, added: Object.fromEntries(added), nonce }),
    workingDir: config.workingDir,
  });
  const process = await waitForStart(way, context, request, pid).catch(async (error: unknown) => {
    // Another session than the one asked for: it got no message, and would stand in the way of every later turn.
    if (error instanceof StaleHandleError) await endLeftovers(context);
    throw error;
  });
  await waitForHooks(way, context, request, process);
  // One that finishes a turn spends at once.
  if (resume && !request.finishInterruptedTurn) {
    await noteCostBefore(way, context, { process, fence }, lastCost);
  }
  return { process, resumed: resume };
}

/** Until the CLI's own list names the process: it is up then, and in the session that was asked for. */
async function waitForStart(
  way: StreamProcess,
  context: SessionContext,
  { deadlineMs, signal }: OpenRequest,
  pid: number,
): Promise<FoundProcess> {
  return waitUntil(
    async () => {
      const registered = await findRegistered(way, context, pid);
      const process = await findStreamProcess(context);
      if (registered && process?.pid === pid) {
        checkSameId(context, registered.nativeSessionId);
        if (registered.pid === pid) return process;
        await saveStreamProcess(context, registered.pid);
        return findStreamProcess(context);
      }
      if (!isRunning(pid)) throw await readEnd(way, context);
      return undefined;
    },
    {
      awaiting: 'the CLI to start',
      deadlineMs,
      signal,
      clock: context.clock,
      layer: 'stream-process',
    },
  );
}

/** The CLI is what was started, or what a launcher started. */
async function findRegistered(
  way: StreamProcess,
  context: SessionContext,
  started: number,
): Promise<RegisteredProcess | undefined> {
  const pids = context.config.launcher ? listProcessTree(started).map(({ pid }) => pid) : [started];
  for (const pid of pids) {
    const registered = await readRegistered(way, context, pid);
    if (registered) return registered;
  }
  return undefined;
}

function checkSameId({ definition, nativeSessionId }: SessionContext, found: string): void {
  if (found === nativeSessionId) return;
  throw new StaleHandleError(definition.id, 'native_session_id', {
    old: nativeSessionId,
    new: found,
  });
}

function isRunning(pid: number): boolean {
  const status = readProcessStatus(pid);
  return status !== undefined && observePid(pid, status.startTime) !== 'dead';
}

async function readEnd(way: StreamProcess, context: SessionContext): Promise<Error> {
  const said = await readFile(streamFiles(context).errors, 'utf8').catch(() => '');
  const words = stripVTControlCharacters(said).replace(/\s+/g, ' ').trim().slice(-500);
  const missing = way.readMissingHistory(words);
  if (missing !== undefined) return new NativeHistoryMissingError(nativeIdOf(context), missing);
  const detail = `it ended as it was started${words === '' ? ' and said nothing' : `: ${words}`}`;
  return new CliUnusableError(context.binary, 'exited', detail);
}
