import {
  type HandleJson,
  type LedgerTools,
  type ModelWindow,
  type RunningTurn,
  readUserMessages,
  type SubjectTurn,
  scripted,
} from '@holdfast/provider-core/certification';
import type { ApiSubject } from '../../certify/api/api-subject.js';
import { type KillOutcome, settle } from '../strike.js';
import { type ApiCell, isLine } from './api-cell.js';

/** A message, and what its tool must do once. */
export interface Errand {
  readonly text: string;
  /** What its tool writes into the ledger, if it has a tool. */
  readonly tag: string | undefined;
  /** The turn came to a call whose outcome nobody knew, and was gone on with by the caller's own word. */
  readonly wasDecided: boolean;
}

export interface ApiStrike {
  readonly subject: ApiSubject;
  readonly tools: LedgerTools;
  /** Absent for the turn that starts the session. */
  readonly handle: HandleJson | undefined;
  readonly cell: ApiCell;
  readonly message: string;
}

const MAX_ATTEMPTS = 4;

/** Writes a message that makes the kill's moment come. */
export function composeErrand(tools: LedgerTools, cell: ApiCell, number: number): Errand {
  const title = `Errand ${number} of this session.`;
  if (cell === 'mid_stream') {
    const text = scripted(title, { text: 'one two three four', chunks: 4 });
    return { text, tag: undefined, wasDecided: false };
  }
  const tag = `errand-${number}`;
  const trick =
    cell === 'before_effect' ? 'kill_before' : cell === 'after_effect' ? 'kill_after' : undefined;
  const step = { tools: [tools.append(tag, trick)], after: [{ text: 'It is done.' }] };
  return { text: scripted(title, step), tag, wasDecided: false };
}

/** Runs one turn, kills its service, and goes on in new services with the same turn id until it is settled. */
export async function strikeApi(
  strike: ApiStrike,
): Promise<{ readonly turn: SubjectTurn | undefined; readonly outcome: KillOutcome }> {
  const { subject, cell } = strike;
  const turnId = crypto.randomUUID();
  const errors: string[] = [];
  let fired = false;
  let detail: string | undefined;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const running = begin(strike, { turnId, isFirst: attempt === 1, errors });
    if (attempt === 1) killInWindow(strike, running);
    const settled = await settle(running);
    subject.lifetime.onWindow(undefined);
    if (settled.state === 'died') fired ||= attempt === 1;
    if (settled.state === 'completed') {
      return { turn: settled.turn, outcome: report('recovered') };
    }
    if (settled.state === 'unsettled') {
      await running.kill();
      return { turn: undefined, outcome: report('unsettled') };
    }
    if (settled.state === 'failed') {
      errors.push(settled.kind);
      detail = settled.message;
      // The one error that a kill may come to: nobody knows whether the tool took effect.
      if (settled.kind !== 'turn_interrupted') break;
    }
  }
  return { turn: undefined, outcome: report('lost') };

  function report(result: KillOutcome['result']): KillOutcome {
    const base = {
      cell: { kind: 'api' as const, cell },
      way: 'api' as const,
      fired,
      result,
      errors,
    };
    return result === 'recovered' ? base : { ...base, detail };
  }
}

function begin(
  { subject, tools, handle, cell, message }: ApiStrike,
  {
    turnId,
    isFirst,
    errors,
  }: { readonly turnId: string; readonly isFirst: boolean; readonly errors: readonly string[] },
): RunningTurn {
  return subject.begin(handle, message, {
    turnId,
    config: tools.config,
    // Only once the turn said that it was cut off within a call.
    ...(errors.length > 0 && { onInterrupted: 'resume' as const }),
    ...(isFirst && isLine(cell) && { dieAt: cell }),
  });
}

/** The model stands still at its window until the service is dead. */
function killInWindow({ subject, cell, message }: ApiStrike, running: RunningTurn): void {
  if (isLine(cell) || cell === 'before_effect' || cell === 'after_effect') return;
  let isArmed = true;
  subject.lifetime.onWindow(async ({ name, request }: ModelWindow) => {
    if (!isArmed || name !== cell || readUserMessages(request).at(-1) !== message) return;
    isArmed = false;
    await running.kill();
  });
}
