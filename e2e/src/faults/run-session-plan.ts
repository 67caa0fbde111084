import {
  countMessage,
  findUserMessages,
  type HandleJson,
  type SubjectTurn,
} from '@holdfast/provider-core/certification';
import { RealSubject } from '../harness/real-subject.js';
import { nameCell } from './fault-cell.js';
import { composeMessage, type FaultMessage, readLedger } from './fault-message.js';
import type { SessionPlan } from './plan-kills.js';
import { type KillOutcome, strike } from './strike.js';

/** What one session came to. */
export interface SessionOutcome {
  readonly kills: readonly KillOutcome[];
  /** Messages or side effects that were there more than once. */
  readonly doubled: readonly string[];
  /** Messages that the model does not see in the end. */
  readonly missing: readonly string[];
  readonly leftover: readonly string[];
}

/** A target that did not live at its moment is aimed at again, with the next message. */
const MAX_SHOTS = 4;
const CODEWORD = 'Remember the codeword heron.';

/** Leads one session through its kills, then looks at the conversation the model finally sees. */
export async function runSessionPlan({ cli, way, cells }: SessionPlan): Promise<SessionOutcome> {
  const subject = await RealSubject.create({ cli, way, layer: 'provider-core' });
  const kills: KillOutcome[] = [];
  const messages: FaultMessage[] = [];
  let handle: HandleJson | undefined;
  let judged: Pick<SessionOutcome, 'doubled' | 'missing'> = { doubled: [], missing: [] };
  try {
    for (const cell of cells) {
      for (let attempt = 1; attempt <= MAX_SHOTS; attempt += 1) {
        const number = messages.length;
        const message =
          handle === undefined
            ? { text: CODEWORD, tag: undefined }
            : composeMessage(subject, cell, number);
        const { turn, outcome } = await strike({ subject, handle, cell, message: message.text });
        handle = turn?.handle ?? handle;
        if (turn) messages.push(message);
        const isMiss = !outcome.fired && outcome.result === 'recovered';
        if (isMiss && attempt < MAX_SHOTS) continue;
        kills.push(outcome);
        break;
      }
      // Nothing can be judged after a start that came to nothing.
      if (!handle) break;
    }
    if (handle) judged = await judgeConversation(subject, handle, messages);
  } catch (error) {
    judged = { doubled: [], missing: [`the session broke: ${String(error)}`] };
  }
  if (judged.doubled.length + judged.missing.length > 0) subject.keepPlace();
  const leftover = await disposeOf(subject);
  return { kills, ...judged, leftover };
}

async function judgeConversation(
  subject: RealSubject,
  handle: HandleJson,
  messages: readonly FaultMessage[],
): Promise<Pick<SessionOutcome, 'doubled' | 'missing'>> {
  const last = 'Tell me in the end: what is the codeword?';
  const turn: SubjectTurn = await subject.continue(handle, last);
  const request = subject.modelRequests().at(-1);
  const expected = [...messages.map(({ text }) => text), last];
  const seen = request ? findUserMessages(request).map(({ text }) => text) : [];
  const ours = seen.filter((text) => expected.includes(text));
  const doubled = expected.filter((text) => request && countMessage(request, text) > 1);
  const missing = expected.filter((text) => !ours.includes(text));
  if (doubled.length + missing.length === 0 && ours.join('\0') !== expected.join('\0')) {
    missing.push('the order of the messages');
  }
  if (!turn.answer.includes('heron')) missing.push('the codeword');
  const ledger = await readLedger(subject);
  const repeated = messages.flatMap(({ tag }) =>
    tag !== undefined && ledger.filter((line) => line === tag).length > 1 ? [tag] : [],
  );
  return { doubled: [...doubled, ...repeated], missing };
}

async function disposeOf(subject: RealSubject): Promise<readonly string[]> {
  try {
    await subject[Symbol.asyncDispose]();
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

/** One line for a kill, for people who watch. */
export function describeKill({ cell, fired, result, errors, detail }: KillOutcome): string {
  const errorsOnTheWay = errors.length > 0 ? ` after ${errors.join(', ')}` : '';
  const note = detail === undefined ? '' : `: ${detail}`;
  return `${result}${fired ? '' : ' (nothing was killed)'}  ${nameCell(cell)}${errorsOnTheWay}${note}`;
}
