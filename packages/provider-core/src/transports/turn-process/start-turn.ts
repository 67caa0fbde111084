import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CliUnusableError, SessionBusyError } from '../../errors/turn-error.js';
import type { TurnLaunch, TurnProcess } from '../../spec/turn-process.js';
import { writeFileAtomic } from '../../state/atomic-write.js';
import { faultPoint } from '../../state/fault-point.js';
import { createChildEnvironment } from '../child-environment.js';
import { ProcessStartError, spawnDetached } from '../run-process.js';
import type { LeaseFence, SessionContext, SubmitRequest } from '../session-transport.js';
import { apiKeyOf } from './creation-exchange.js';
import { identityOf, LAUNCH_VARIABLE, saveProcessRecord, turnFiles } from './process-record.js';
import type { ProcessRecord } from './process-record.wire.js';

export interface StartTurnRequest {
  readonly way: TurnProcess;
  readonly context: SessionContext;
  readonly nativeSessionId: string;
  readonly fence: LeaseFence;
  readonly submit: SubmitRequest;
}

/**
 * Starts the process of one turn, in a session of its own. Its input and its output are files, so that nothing of ours
 * is needed to feed it or to drain it, and a service that dies changes nothing for it.
 */
export async function startTurn(request: StartTurnRequest): Promise<ProcessRecord> {
  const { context, submit, fence } = request;
  const { filesDir } = context;
  const files = turnFiles(filesDir);
  const launch = await prepareFiles(request);
  const record: ProcessRecord = {
    launchId: randomUUID(),
    turnId: submit.turnId,
    cursor: submit.cursor,
  };
  submit.signal.throwIfAborted();
  // Before the start: whoever comes after a crash looks for what carries the launch id.
  await saveProcessRecord(filesDir, record);
  faultPoint('turn-process:planned');
  if (!fence.isCurrent()) throw new SessionBusyError({ kind: 'ours' });
  const { pid, startTime } = await spawnDetached({
    file: context.binary,
    args: launch.args,
    env: environmentOf(context, launch, record.launchId),
    workingDir: context.config.workingDir,
    stdinFile: files.message,
    stdoutFile: files.output,
    stderrFile: files.errors,
  }).catch(refuseStart);
  faultPoint('turn-process:spawned');
  const started = { ...record, process: identityOf(pid, startTime) };
  await saveProcessRecord(filesDir, started);
  faultPoint('turn-process:started');
  return started;
}

async function prepareFiles(request: StartTurnRequest): Promise<TurnLaunch> {
  const { way, context, submit, nativeSessionId } = request;
  const { config, cliHome, filesDir } = context;
  const files = turnFiles(filesDir);
  await rm(files.output, { force: true });
  await rm(files.errors, { force: true });
  await writeFile(files.message, way.encodeMessage(submit.text), { mode: 0o600 });
  const images = submit.images.map(({ mediaType, data }, index) => ({
    path: files.image(index, mediaType.replace('image/', '')),
    data,
  }));
  for (const { path, data } of images) {
    await writeFile(path, Buffer.from(data, 'base64'), { mode: 0o600 });
  }
  const launch = way.turnLaunch({
    config,
    cliHome,
    nativeSessionId,
    images: images.map(({ path }) => path),
    apiKey: apiKeyOf(context),
  });
  for (const { name, content } of launch.homeFiles) {
    await writeFileAtomic(join(cliHome, name), content, { durable: false });
  }
  return launch;
}

function environmentOf(
  { config, nonce }: SessionContext,
  { env }: TurnLaunch,
  launchId: string,
): Record<string, string> {
  return {
    ...createChildEnvironment({ config, added: env, nonce }),
    [LAUNCH_VARIABLE]: launchId,
  };
}

function refuseStart(error: unknown): never {
  if (!(error instanceof ProcessStartError)) throw error;
  throw new CliUnusableError(
    error.file,
    'exited',
    `it could not be started (${error.code}). Nothing was sent.`,
    { cause: error },
  );
}

/** Takes away what stood in the CLI's home for one turn. */
export async function removeHomeFiles(way: TurnProcess, context: SessionContext): Promise<void> {
  const { config, cliHome, nativeSessionId } = context;
  if (nativeSessionId === undefined) return;
  const { homeFiles } = way.turnLaunch({ config, cliHome, nativeSessionId, images: [] });
  for (const { name } of homeFiles) await rm(join(cliHome, name), { force: true });
}
