import { type Clock, systemClock } from '@holdfast/agent';
import type { CodingOutcome } from '../coding-job.js';
import { CodingThreadError } from '../coding-thread-error.js';
import { digestOfJson } from '../contract/canonical-json.js';
import { digestCapabilities, type WorkerCapabilities } from '../contract/capabilities.wire.js';
import { describeWorkerError } from '../worker/worker-error.js';
import type { CodingWorkerSpec, WorkerEnd, WorkerProgress } from '../worker/worker-spec.js';
import { CommandInbox } from './command-inbox.js';
import { EventTeller } from './event-teller.js';
import { redactError } from './redact-secrets.js';
import { toJson, type WorkerCommand, type WorkerPayload } from './worker-protocol.wire.js';
import { WorkerProtocolError } from './worker-protocol-error.js';

/** How long a job that was cancelled may take to end its turn and its CLI. */
const CANCEL_LIMIT_MS = 12_000;
/** Signs of life are told no more often. */
const ALIVE_MS = 1_000;

/** The one job of a worker. */
export interface ServedJob {
  readonly spec: CodingWorkerSpec;
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch; it may be put off meanwhile. */
  readonly deadlineAt: () => number;
  readonly report: (progress: WorkerProgress) => void;
}

/** What a worker is made of. */
export interface ServeWorkerOptions {
  readonly input: AsyncIterable<Uint8Array>;
  readonly write: (text: string) => void;
  readonly capabilities: WorkerCapabilities;
  /** Whether whoever says hello is the one that started this process. */
  readonly isOurRunner: (transportNonce: string) => boolean;
  readonly run: (job: ServedJob) => Promise<CodingOutcome>;
  /** Aborting it cancels, as the end of the input does. */
  readonly stop?: AbortSignal | undefined;
  /** Values that no error may tell. */
  readonly secretsOf?: ((spec: CodingWorkerSpec) => readonly string[]) | undefined;
  readonly clock?: Clock | undefined;
}

/** The worker's side of the protocol: says hello, runs the one job, tells its end at once and is done. */
export async function serveWorker(options: ServeWorkerOptions): Promise<void> {
  const inbox = new CommandInbox(options.input);
  options.stop?.addEventListener('abort', () => inbox.cancel('the worker was told to stop'));
  const teller = await greet(inbox, options);
  if (!teller) return;
  const end = await serveJob(inbox, teller, options);
  tellEnd(teller, end);
}

/** Nothing when nobody said hello: then nobody is told anything. */
async function greet(
  inbox: CommandInbox,
  { capabilities, isOurRunner, write, clock = systemClock }: ServeWorkerOptions,
): Promise<EventTeller | undefined> {
  const hello = await inbox.next();
  if (!hello) return undefined;
  if (hello.type !== 'hello') throw new WorkerProtocolError('out_of_order', 'hello comes first');
  if (!isOurRunner(hello.identity.transportNonce)) {
    throw new WorkerProtocolError('wrong_fence', 'another process started this worker');
  }
  const teller = new EventTeller(hello.identity, write, clock);
  if (hello.expectedCapabilityDigest === digestCapabilities(capabilities)) {
    teller.tell({ type: 'ready', capabilities: toJson(capabilities) });
    return teller;
  }
  tellEnd(teller, failed(unfit('The worker can do something else than was admitted.')));
  return undefined;
}

async function serveJob(
  inbox: CommandInbox,
  teller: EventTeller,
  options: ServeWorkerOptions,
): Promise<WorkerEnd> {
  const start = await inbox.next();
  if (!start || inbox.signal.aborted) return { class: 'cancelled', reason: inbox.reason };
  const fault = judgeStart(start, options.capabilities);
  if (fault) return failed(fault);
  if (start.type !== 'start') throw new Error('unreachable: judged to be a start');
  const { clock = systemClock, secretsOf = () => [] } = options;
  const deadlineAt = followDeadline(inbox, clock, start.deadlineMs);
  const job: ServedJob = {
    spec: start.input,
    signal: inbox.signal,
    deadlineAt,
    report: createReport(teller, clock),
  };
  const ended = options.run(job).then(
    (outcome): WorkerEnd => ({ class: 'success', outcome }),
    (error: unknown) => endOf(error, inbox, secretsOf(start.input)),
  );
  return await Promise.race([ended, waitInVain(inbox, clock)]);
}

/** The runner may put the deadline off while the job runs. */
function followDeadline(inbox: CommandInbox, clock: Clock, deadlineMs: number): () => number {
  let at = clock.monotonicMs() + deadlineMs;
  const follow = async () => {
    for (let told = await inbox.next(); told; told = await inbox.next()) {
      if (told.type === 'renew') at = clock.monotonicMs() + told.deadlineMs;
      else inbox.cancel(`the runner said ${told.type} twice`);
    }
  };
  void follow();
  // A clock that is set meanwhile leaves as much time as before.
  return () => clock.now() + at - clock.monotonicMs();
}

function judgeStart(
  start: WorkerCommand,
  { adapterId }: WorkerCapabilities,
): CodingThreadError | undefined {
  if (start.type !== 'start') return unfit('The worker was told to do something else than a job.');
  if (digestOfJson(toJson(start.input)) !== start.specDigest) {
    return unfit('The job is not the one that was admitted.');
  }
  if (start.input.adapterId !== adapterId) return unfit('The job is for another adapter.');
  return undefined;
}

function unfit(message: string): CodingThreadError {
  return new CodingThreadError('runner_unfit', message);
}

function failed(error: CodingThreadError): WorkerEnd {
  return { class: 'failed', error: describeWorkerError(error) };
}

function endOf(error: unknown, inbox: CommandInbox, secrets: readonly string[]): WorkerEnd {
  if (inbox.signal.aborted) return { class: 'cancelled', reason: inbox.reason };
  const described = redactError(describeWorkerError(error), secrets);
  return described.kind === 'execution_unknown'
    ? { class: 'unknown', reason: described.message }
    : { class: 'failed', error: described };
}

/** Settles only for a job that goes on after it was cancelled. */
async function waitInVain({ signal }: CommandInbox, clock: Clock): Promise<WorkerEnd> {
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await clock.sleep(CANCEL_LIMIT_MS);
  return { class: 'unknown', reason: 'It was cancelled and did not end.' };
}

function createReport(teller: EventTeller, clock: Clock): (progress: WorkerProgress) => void {
  let toldAt: number | undefined;
  return (progress) => {
    if (progress.type === 'alive') {
      const now = clock.monotonicMs();
      if (toldAt !== undefined && now - toldAt < ALIVE_MS) return;
      toldAt = now;
    }
    teller.tell(payloadOf(progress));
  };
}

function payloadOf(progress: WorkerProgress): WorkerPayload {
  switch (progress.type) {
    case 'step':
      return { type: 'progress', message: progress.step };
    case 'usage':
      return { type: 'usage', usage: progress.usage };
    case 'alive':
      return { type: 'progress', message: 'alive' };
  }
}

function tellEnd(teller: EventTeller, end: WorkerEnd): void {
  try {
    for (const payload of payloadsOf(end)) teller.tell(payload);
  } catch (error) {
    if (!(error instanceof WorkerProtocolError)) throw error;
    // What was done stands in the thread's record, where it can be found.
    teller.tell({ type: 'terminal', class: 'unknown', reason: error.message });
  }
}

function payloadsOf(end: WorkerEnd): readonly WorkerPayload[] {
  switch (end.class) {
    case 'success': {
      const { patch, ...output } = end.outcome;
      return [
        ...(patch ? [{ type: 'coding-patch', patch } as const] : []),
        { type: 'terminal', class: 'success', output },
      ];
    }
    case 'failed': {
      const isRecoverable = end.error.retry === 'same';
      const kind = isRecoverable ? 'recoverable_failure' : 'terminal_failure';
      return [{ type: 'terminal', class: kind, error: end.error }];
    }
    default:
      return [{ type: 'terminal', class: end.class, reason: end.reason }];
  }
}
