import { BlockedError, TimedOutError } from '../../errors/turn-error.js';
import type { RecordCursor } from '../../spec/record-event.js';
import type { SteerResult } from '../../spec/turn.js';
import type { DeliveryPlan, SteerSign } from '../../spec/typed-pane.js';
import { followJsonLines } from '../../state/follow-json-lines.js';
import { waitUntil } from '../../time/wait-until.js';
import type { SteerRequest } from '../session-transport.js';
import { showsDelivery } from './composer-text.js';
import { findRefusal } from './find-refusal.js';
import { armGate, disarmGate } from './gate-arming.js';
import { type LivePane, pressKey, readPaneActivity, writeToPane } from './live-pane.js';
import { takeRecordCursor } from './read-session-record.js';
import type { RunningDelivery } from './running-delivery.js';
import { locateRecord } from './session-files.js';
import { readSettledComposer } from './settled-composer.js';

type Pastes = Extract<DeliveryPlan, { kind: 'pastes' }>;

const SHOWN_MS = 10_000;
const LEFT_MS = 1_500;
const MAX_ENTERS = 4;
const MAX_ERASURES = 80;

/**
 * Types a text into the turn that runs. Nothing is pressed while a page waits or a person's draft stands; what became of
 * the text is read in the record, and until that says it, it is unknown.
 */
export async function steerSession(
  pane: LivePane,
  delivery: RunningDelivery,
  request: SteerRequest,
): Promise<SteerResult> {
  const plan = pane.way.planDelivery({ ...pane.context, text: request.text });
  const refusal = await findRefusal(pane.way, pane.context, request.text);
  if (refusal || plan.kind === 'refused') {
    return refused(`${refusal?.reason}: ${refusal?.detail}`);
  }
  const why = await findObstacle(pane);
  if (why !== undefined) return refused(why);
  const cursor = await takeRecordCursor(pane.way, pane.context);
  const token = await armGate(pane, request.text);
  delivery.steered.set(token, request);
  try {
    const obstacle = await typeText(pane, plan);
    if (obstacle !== undefined) return refused(obstacle);
    return await grade(pane, cursor, request);
  } finally {
    await disarmGate(pane.way, pane.context);
  }
}

async function findObstacle(pane: LivePane): Promise<string | undefined> {
  if (pane.way.readSteerSign === undefined) return 'this CLI does not tell what becomes of it';
  const activity = await readPaneActivity(pane);
  if (activity === 'waiting') return 'the CLI waits for an answer to something else';
  if (activity !== 'busy') return 'no turn runs that could take it';
  try {
    const { content } = await readSettledComposer(pane);
    return content === 'empty' ? undefined : "a person's draft stands in the composer";
  } catch (error) {
    if (error instanceof BlockedError) return 'the CLI waits on a page';
    throw error;
  }
}

/** Why it was not sent; nothing when it was. */
async function typeText(pane: LivePane, plan: Pastes): Promise<string | undefined> {
  const outcome = await writeToPane(
    pane,
    plan.pastes.map((text) => ({ text })),
  );
  if (outcome === 'no_pane') return 'the pane is gone';
  if (!(await becomesShown(pane, plan))) return eraseDraft(pane, 'the composer did not take it');
  for (let presses = 0; presses < MAX_ENTERS; presses += 1) {
    // An Enter on a page would answer it.
    if ((await readPaneActivity(pane)) === 'waiting') {
      return eraseDraft(pane, 'a page came up before it was sent');
    }
    if ((await pressKey(pane, 'Enter')) === 'no_pane') return undefined;
    if (await leavesComposer(pane, plan)) return undefined;
  }
  return eraseDraft(pane, 'the composer kept it');
}

function becomesShown(pane: LivePane, plan: Pastes): Promise<boolean> {
  return comesTrue(pane, SHOWN_MS, async () => isShown(pane, plan));
}

function leavesComposer(pane: LivePane, plan: Pastes): Promise<boolean> {
  return comesTrue(pane, LEFT_MS, async () => !(await isShown(pane, plan)));
}

/** A page that came up hides the composer: what stands in it is not seen. */
async function isShown(pane: LivePane, plan: Pastes): Promise<boolean> {
  try {
    return showsDelivery(await readSettledComposer(pane), plan);
  } catch (error) {
    if (error instanceof BlockedError) return false;
    throw error;
  }
}

async function comesTrue(
  { context }: LivePane,
  deadlineMs: number,
  probe: () => Promise<boolean>,
): Promise<boolean> {
  try {
    return await waitUntil(probe, {
      awaiting: 'the composer',
      deadlineMs,
      clock: context.clock,
      layer: 'typed-pane',
    });
  } catch (error) {
    if (error instanceof TimedOutError) return false;
    throw error;
  }
}

/** Line by line: C-c would interrupt the turn, Escape too. What a page hides is left to the next message's look. */
async function eraseDraft(pane: LivePane, why: string): Promise<string> {
  for (let presses = 0; presses < MAX_ERASURES; presses += 1) {
    if ((await readPaneActivity(pane)) === 'waiting') return why;
    if ((await readSettledComposer(pane)).content === 'empty') return why;
    await pressKey(pane, presses % 2 === 0 ? 'C-u' : 'BSpace');
  }
  return why;
}

async function grade(
  pane: LivePane,
  cursor: RecordCursor,
  request: SteerRequest,
): Promise<SteerResult> {
  const late = new AbortController();
  const stop = AbortSignal.any([request.signal, late.signal]);
  const timer = pane.context.clock.sleep(request.deadlineMs, stop).then(
    () => late.abort(),
    () => undefined,
  );
  try {
    return await readOutcome(pane, cursor, { text: request.text, signal: stop });
  } finally {
    late.abort();
    await timer;
  }
}

async function readOutcome(
  { way, context }: LivePane,
  { path: known, length }: RecordCursor,
  { text, signal }: { readonly text: string; readonly signal: AbortSignal },
): Promise<SteerResult> {
  let isQueued = false;
  const path = known ?? (await locateRecord(way, context, signal));
  if (path === undefined) return unknown(isQueued);
  const fromByte = known === undefined ? 0 : length;
  for await (const line of followJsonLines(path, { fromByte, signal })) {
    const sign = line.replaced ? undefined : way.readSteerSign?.(line.value, text);
    if (sign === 'held') isQueued = true;
    else if (sign !== undefined) return settled(sign);
  }
  return unknown(isQueued);
}

function settled(sign: Exclude<SteerSign, 'held'>): SteerResult {
  return sign === 'taken_in'
    ? { outcome: 'accepted', detail: 'the running turn took it in' }
    : { outcome: 'queued', detail: 'the turn ended first, and the CLI runs it as its own' };
}

function unknown(isQueued: boolean): SteerResult {
  const detail = isQueued
    ? 'the CLI holds it, and the turn has not taken it in yet'
    : 'it left us, and the record does not say what became of it';
  return { outcome: 'unknown', detail };
}

function refused(why: string): SteerResult {
  return { outcome: 'refused', detail: `${why}; nothing was put in` };
}
