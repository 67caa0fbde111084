import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StaleHandleError } from '../../errors/continuation-error.js';
import {
  SessionBusyError,
  TimedOutError,
  TurnInterruptedError,
  UndeliverableMessageError,
} from '../../errors/turn-error.js';
import type { DeliveryPlan, GateVerdict } from '../../spec/typed-pane.js';
import { faultPoint } from '../../state/fault-point.js';
import type { SubmitRequest } from '../session-transport.js';
import { clearComposer } from './clear-composer.js';
import { showsDelivery, showsText } from './composer-text.js';
import { findRefusal } from './find-refusal.js';
import { armGate, disarmGate } from './gate-arming.js';
import { type LivePane, pressKey, writeToPane } from './live-pane.js';
import type { RunningDelivery } from './running-delivery.js';
import { readSettledComposer } from './settled-composer.js';
import { findSpoolEnd, SignalSpool } from './signal-spool.js';

type Pastes = Extract<DeliveryPlan, { kind: 'pastes' }>;

const POLL_MS = 10;
const PASTE_DEADLINE_MS = 15_000;
/** A composer draws itself anew after each paste. */
const DEADLINE_PER_PASTE_MS = 100;
/** How long an Enter may go without a verdict, while the text still stands there, before it is pressed again. */
const ENTER_PATIENCE_MS = 1_500;
const VERDICT_DEADLINE_MS = 20_000;

/** Types the message: arms the gate, pastes, sees it in the composer, presses Enter, waits for the gate's verdict. */
export async function submitMessage(
  pane: LivePane,
  request: SubmitRequest,
  running: RunningDelivery,
): Promise<void> {
  const delivery = await planSubmission(pane, request.text);
  const standsThere = await prepareComposer(pane, request, delivery);
  const spool = new SignalSpool(pane.way, pane.context, await findSpoolEnd(pane.way, pane.context));
  const token = await armGate(pane, request.text);
  running.armed = { token, text: request.text, turnId: request.turnId };
  try {
    if (!standsThere && (await paste(pane, delivery)) === 'no_pane') return;
    await waitUntilShown(pane, request, delivery);
    faultPoint('pasted');
    await pressUntilJudged({ pane, request, delivery, spool, token });
  } finally {
    // Of a verdict that never came the record tells; a later text must not meet an armed gate.
    await disarmGate(pane.way, pane.context);
  }
}

async function planSubmission(pane: LivePane, text: string): Promise<Pastes> {
  const refusal = await findRefusal(pane.way, pane.context, text);
  if (refusal) throw new UndeliverableMessageError(refusal.reason, refusal.detail);
  const delivery = pane.way.planDelivery({ text, cliVersion: pane.context.cliVersion });
  if (delivery.kind === 'refused') {
    throw new UndeliverableMessageError(delivery.reason, delivery.detail);
  }
  return delivery;
}

/** Makes sure that nothing but our own text can be in the composer; true when the text stands there already. */
async function prepareComposer(
  pane: LivePane,
  request: SubmitRequest,
  delivery: Pastes,
): Promise<boolean> {
  const composer = await readSettledComposer(pane);
  if (composer.content === 'empty') return false;
  if (
    request.mayStandInComposer &&
    composer.content === 'text' &&
    showsDelivery(composer, delivery)
  ) {
    return true;
  }
  const last = await findLastText(pane);
  // A token shows nothing of its text: ours only if our last message went in as one.
  const isOurs =
    last !== undefined && (showsText(composer, last) || isToken(pane, composer.content, last));
  if (!isOurs && request.draft !== 'replace') throw new SessionBusyError({ kind: 'person' });
  await clearComposer(pane);
  return false;
}

function isToken({ way, context }: LivePane, content: string, text: string): boolean {
  const plan = way.planDelivery({ text, cliVersion: context.cliVersion });
  return content === 'token' && plan.kind === 'pastes' && plan.shownAs === 'token';
}

async function findLastText({ way, context }: LivePane): Promise<string | undefined> {
  const path = join(context.filesDir, way.gate.textFile);
  return way.gate.readArmedText(await readFile(path, 'utf8').catch(() => ''));
}

async function paste(pane: LivePane, { pastes }: Pastes): Promise<'written' | 'no_pane'> {
  return writeToPane(
    pane,
    pastes.map((text) => ({ text })),
  );
}

async function waitUntilShown(
  pane: LivePane,
  { signal }: SubmitRequest,
  delivery: Pastes,
): Promise<void> {
  const { clock } = pane.context;
  const limitMs = PASTE_DEADLINE_MS + DEADLINE_PER_PASTE_MS * delivery.pastes.length;
  const end = clock.monotonicMs() + limitMs;
  for (;;) {
    const composer = await readSettledComposer(pane);
    if (showsDelivery(composer, delivery)) return;
    if (signal.aborted) {
      await clearComposer(pane);
      throw notSent();
    }
    if (clock.monotonicMs() >= end) {
      // The composer was empty before: what stands there came of our paste, and would bar every later one.
      await clearComposer(pane);
      throw new TimedOutError({
        awaiting: 'the composer to show the message and nothing else',
        limitMs,
        layer: 'typed-pane',
      });
    }
    await clock.sleep(POLL_MS);
  }
}

function notSent(): TurnInterruptedError {
  const why = 'the caller interrupted it before it was submitted';
  return new TurnInterruptedError({ accepted: false, inHistory: false, why, isFinal: true });
}

interface Submission {
  readonly pane: LivePane;
  readonly request: SubmitRequest;
  readonly delivery: Pastes;
  readonly spool: SignalSpool;
  readonly token: string;
}

/** Enter goes in again only while the text is seen still standing there; it is never pasted twice. */
async function pressUntilJudged(submission: Submission): Promise<void> {
  const { pane, delivery } = submission;
  const { clock } = pane.context;
  const end = clock.monotonicMs() + VERDICT_DEADLINE_MS;
  while (clock.monotonicMs() < end) {
    if ((await pressKey(pane, 'Enter')) === 'no_pane') return;
    if (await waitForVerdict(submission, ENTER_PATIENCE_MS)) return;
    const composer = await readSettledComposer(pane);
    // It left the composer: the verdict is under way, and the record has the last word.
    if (!showsDelivery(composer, delivery)) {
      await waitForVerdict(submission, VERDICT_DEADLINE_MS);
      return;
    }
  }
}

async function waitForVerdict(submission: Submission, limitMs: number): Promise<boolean> {
  const { pane, spool } = submission;
  const { clock } = pane.context;
  const end = clock.monotonicMs() + limitMs;
  for (;;) {
    for (const sign of await spool.readNew()) {
      if (sign.type === 'gate' && isJudged(submission, sign.verdict)) return true;
    }
    if (clock.monotonicMs() >= end) return false;
    await clock.sleep(POLL_MS);
  }
}

/** Whether the verdict is on our message; a block is an error, for then nothing of it reached the model. */
function isJudged({ pane, request, token }: Submission, verdict: GateVerdict): boolean {
  if (verdict.kind === 'other') return verdict.text === request.text;
  if (verdict.token !== token) return false;
  switch (verdict.kind) {
    case 'passed':
      return true;
    case 'mixed':
      throw new SessionBusyError({ kind: 'person' });
    case 'looser_permissions':
      throw new StaleHandleError(pane.context.definition.id, 'tool_policy');
  }
}
