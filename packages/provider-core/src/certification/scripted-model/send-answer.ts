import type { ServerResponse } from 'node:http';
import { systemClock } from '../../time/clock.js';
import type { ModelProtocolForm } from './model-protocol.js';
import type { ModelRequest, ModelWindowName } from './model-request.js';
import { createReply, placeMiddle, type Reply, readUsage, type StreamPart } from './reply.js';
import type { ScriptedStep } from './scripted-step.js';
import { unlessAborted } from './unless-aborted.js';

/** One answer under way: what is answered, where it goes, and what ends it early. */
export interface AnswerUnderWay {
  readonly request: ModelRequest;
  readonly step: ScriptedStep;
  readonly form: ModelProtocolForm;
  readonly response: ServerResponse;
  /** Aborted when the client leaves, or the server stops. */
  readonly signal: AbortSignal;
  readonly reach: (window: ModelWindowName) => Promise<void>;
}

/** Sends the answer that a step describes. Rejects with the signal's reason when the answer is cut off. */
export async function sendAnswer(given: AnswerUnderWay): Promise<void> {
  const answer = { ...given, step: withWholeError(given) };
  const { step, request, response, signal } = answer;
  if (step.hang) return waitForAbort(signal);
  if (step.delayMs) await systemClock.sleep(step.delayMs, signal);
  if (step.firstByteDelayMs) await holdFirstByte(answer, step.firstByteDelayMs);
  await answer.reach('before_first_byte');
  if (step.drop) return breakOff(answer);

  const isStreamed = request.stream && step.status === undefined;
  await (isStreamed ? sendStream(answer) : sendWhole(answer));
  await unlessAborted(signal, (resolve) => response.end(resolve));
  await answer.reach('after_end');
}

/** After an error in a stream Claude Code asks again without one, and must meet the same error there. */
function withWholeError({ request, step }: AnswerUnderWay): ScriptedStep {
  const errorType = step.midStreamError;
  if (errorType === undefined || request.stream || step.status !== undefined) return step;
  return { ...step, errorType, status: errorType.includes('overloaded') ? 529 : 500 };
}

async function holdFirstByte(answer: AnswerUnderWay, ms: number): Promise<void> {
  sendHead(answer);
  answer.response.flushHeaders();
  await systemClock.sleep(ms, answer.signal);
}

function sendHead({ response, request, step }: AnswerUnderWay): void {
  if (response.headersSent) return;
  const isStreamed = request.stream && step.status === undefined;
  const type = isStreamed ? 'text/event-stream' : 'application/json';
  response.writeHead(step.status ?? 200, { 'content-type': type, ...step.headers });
}

async function sendWhole(answer: AnswerUnderWay): Promise<void> {
  sendHead(answer);
  const text = JSON.stringify(writeWhole(answer));
  const isCut = answer.step.breakStream && answer.step.status === undefined;
  await write(answer, isCut ? text.slice(0, Math.ceil(text.length / 2)) : text);
  if (isCut) await breakOff(answer);
}

function writeWhole(answer: AnswerUnderWay): object {
  const { form, step, request } = answer;
  if (step.status !== undefined) {
    return form.writeError({
      status: step.status,
      type: step.errorType,
      message: step.errorMessage ?? 'Scripted error.',
      detail: step.errorDetail ?? {},
    });
  }
  if (request.sideReason === 'token_count') return form.writeTokenCount(readUsage(step));
  return form.writeWhole(createReplyFor(answer));
}

async function sendStream(answer: AnswerUnderWay): Promise<void> {
  const { form, step } = answer;
  const reply = createReplyFor(answer);
  sendHead(answer);
  const writeError = (type: string) => form.writeStreamError(reply, type);
  let held = '';
  for (const part of placeMiddle(form.writeStream(reply), step, writeError)) {
    if (part.kind === 'event' && part.withNext) held += writeEvent(part);
    else if (part.kind === 'event') {
      await write(answer, held + writeEvent(part));
      held = '';
    } else await sendPart(answer, part);
  }
}

async function sendPart(
  answer: AnswerUnderWay,
  part: Exclude<StreamPart, { kind: 'event' }>,
): Promise<void> {
  if (part.kind === 'window') return answer.reach(part.name);
  if (part.kind === 'pause') return systemClock.sleep(part.ms, answer.signal);
  return breakOff(answer);
}

function writeEvent({ name, data }: Extract<StreamPart, { kind: 'event' }>): string {
  const head = name === undefined ? '' : `event: ${name}\n`;
  return `${head}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}

/** Resolves when the operating system has the bytes, so that a window never comes before them. */
function write({ response, signal }: AnswerUnderWay, text: string): Promise<void> {
  return unlessAborted(signal, (resolve) => {
    // An error means that the client left; the abort that follows says so.
    response.write(text, (error) => (error ? undefined : resolve()));
  });
}

function breakOff({ response, signal }: AnswerUnderWay): Promise<never> {
  response.destroy();
  return waitForAbort(signal);
}

/** Never resolves; rejects as soon as the signal is aborted. */
function waitForAbort(signal: AbortSignal): Promise<never> {
  return unlessAborted<never>(signal, () => undefined);
}

function createReplyFor({ request, step }: AnswerUnderWay): Reply {
  return createReply(request.id.replaceAll('-', ''), request, step);
}
