import { setTimeout as sleep } from 'node:timers/promises';
import type { Way } from '@holdfast/provider-core';
import {
  type HandleJson,
  type ModelWindow,
  type RunningTurn,
  readUserMessages,
  type SubjectTurn,
} from '@holdfast/provider-core/certification';
import type { RealSubject } from '../harness/real-subject.js';
import { waitFor } from '../harness/wait-for.js';
import type { FaultCell } from './fault-cell.js';
import { readLedger } from './fault-message.js';
import { strikeTarget } from './strike-target.js';

/** What one kill came to. */
export interface KillOutcome {
  readonly cell: FaultCell;
  readonly way: Way | 'api';
  /** Whether something really was killed. */
  readonly fired: boolean;
  readonly result: 'recovered' | 'lost' | 'unsettled';
  /** The kinds of the typed errors on the way. */
  readonly errors: readonly string[];
  readonly detail?: string | undefined;
}

export interface StrikeRequest {
  readonly subject: RealSubject;
  /** Absent for the turn that starts the session. */
  readonly handle: HandleJson | undefined;
  readonly cell: FaultCell;
  readonly message: string;
}

export interface StrikeResult {
  readonly turn: SubjectTurn | undefined;
  readonly outcome: KillOutcome;
}

const SETTLE_LIMIT_MS = 120_000;
const MAX_ATTEMPTS = 4;

/** Runs one turn, kills at its cell, and goes on in new services with the same turn id until it is settled. */
export async function strike(request: StrikeRequest): Promise<StrikeResult> {
  const turnId = crypto.randomUUID();
  const errors: string[] = [];
  const shot = await prepareShot(request);
  let detail: string | undefined;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const running = begin(request, turnId, attempt);
    if (attempt === 1) shot.load(running);
    const settled = await settle(running);
    if (attempt === 1) await shot.done(settled.state === 'died');
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
    }
  }
  return { turn: undefined, outcome: report('lost') };

  function report(result: KillOutcome['result']): KillOutcome {
    const { way } = request.subject.claims;
    const base = { cell: request.cell, way, fired: shot.fired(), result, errors };
    return result === 'recovered' ? base : { ...base, detail };
  }
}

function begin(
  { subject, handle, cell, message }: StrikeRequest,
  turnId: string,
  attempt: number,
): RunningTurn {
  const isFirst = attempt === 1;
  return subject.begin(handle, message, {
    turnId,
    ...(isFirst ? {} : { onInterrupted: 'resume' as const }),
    ...(handle === undefined && { config: subject.unattended }),
    ...(isFirst && cell.kind === 'step' && { dieAt: cell.step }),
  });
}

type Settled =
  | { readonly state: 'completed'; readonly turn: SubjectTurn }
  | { readonly state: 'died' | 'unsettled' }
  | { readonly state: 'failed'; readonly kind: string; readonly message: string };

/** Waits for a turn's end, whatever it is; a turn that has none in time is unsettled. */
export async function settle(running: RunningTurn): Promise<Settled> {
  const limit = new AbortController();
  const timeout = sleep(SETTLE_LIMIT_MS, { state: 'unsettled' } as const, {
    signal: limit.signal,
  }).catch(() => ({ state: 'unsettled' }) as const);
  const outcome = running.finished.then(
    (turn) => ({ state: 'completed', turn }) as const,
    (error: Error & { readonly kind?: string }) => readFailure(error),
  );
  const settled = await Promise.race([outcome, timeout]);
  limit.abort();
  return settled;
}

function readFailure(error: Error & { readonly kind?: string }): Settled {
  if (error.kind === 'worker_died') return { state: 'died' };
  return { state: 'failed', kind: error.kind ?? error.name, message: error.message };
}

/** A kill that waits for its moment. */
interface Shot {
  readonly load: (running: RunningTurn) => void;
  /** Waits until a shot that was fired has hit. */
  readonly done: (hasDied: boolean) => Promise<void>;
  readonly fired: () => boolean;
}

async function prepareShot({ subject, handle, cell, message }: StrikeRequest): Promise<Shot> {
  let fired = false;
  let hit: Promise<void> = Promise.resolve();
  let running: RunningTurn | undefined;
  const fire = async (delayMs: number) => {
    if (cell.kind !== 'window' || !handle) return;
    if (delayMs > 0) await sleep(delayMs);
    fired = await strikeTarget(cell.target, { subject, handle, running });
  };
  subject.lifetime.onWindow(undefined);
  if (cell.kind === 'window' && cell.window === 'between_turns') await fire(0);
  if (cell.kind === 'window' && cell.window !== 'between_turns' && cell.window !== 'in_tool') {
    let isArmed = true;
    subject.lifetime.onWindow(async (window: ModelWindow) => {
      if (!isArmed || window.name !== cell.window || !isOf(window, message)) return;
      isArmed = false;
      hit = fire(cell.delayMs);
      // Without a delay the model stands still until the target is dead.
      if (cell.delayMs === 0) await hit;
    });
  }
  return {
    load: (turn) => {
      running = turn;
      if (cell.kind !== 'window' || cell.window !== 'in_tool') return;
      hit = waitForTool(subject, message, turn).then((isSeen) =>
        isSeen ? fire(cell.delayMs) : undefined,
      );
    },
    done: async (hasDied) => {
      if (cell.kind === 'step') fired = hasDied;
      await hit;
      subject.lifetime.onWindow(undefined);
    },
    fired: () => fired,
  };
}

function isOf({ request }: ModelWindow, message: string): boolean {
  return request.kind === 'main' && readUserMessages(request).at(-1) === message;
}

/** Resolves when the message's tool has written to the ledger, or without it when the turn is over. */
async function waitForTool(
  subject: RealSubject,
  message: string,
  turn: RunningTurn,
): Promise<boolean> {
  let isOver = false;
  turn.finished.then(
    () => (isOver = true),
    () => (isOver = true),
  );
  const tag = /echo (errand-\d+)/.exec(message)?.[1] ?? '';
  let isSeen = false;
  await waitFor('the tool to run', async () => {
    isSeen = (await readLedger(subject)).includes(tag);
    return isSeen || isOver;
  });
  return isSeen;
}
