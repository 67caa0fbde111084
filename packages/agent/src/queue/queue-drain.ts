import { acquireLease, isTurnError, noSignIsEnough } from '@holdfast/provider-core';
import type { AgentSessionHandle } from '../agent-session-handle.js';
import type { AgentTurn } from '../turn/agent-turn.js';
import type { MessageQueue } from './message-queue.js';
import { type QueuedMessage, type QueueState, removeMessage } from './queued-message.js';

interface DrainRequest {
  readonly queue: MessageQueue;
  readonly leaseDir: string;
  /** Runs one message; the state says which session it is for. */
  readonly run: (message: QueuedMessage, state: QueueState) => AgentTurn;
  /** The handle to keep beside the messages that are left. */
  readonly currentHandle: () => AgentSessionHandle | undefined;
  readonly isStopped: () => boolean;
}

/**
 * Delivers what waits, oldest first, one turn each, for as long as this agent holds the queue's lease. A message
 * leaves the queue when its outcome is final; a parked one stays first, and the drain ends.
 */
export async function drainQueue(request: DrainRequest): Promise<void> {
  for (;;) {
    const { lease } = await acquireLease({
      dir: request.leaseDir,
      foreignIsFree: noSignIsEnough,
    });
    // Another agent drains, and looks once more after it let go.
    if (!lease) return;
    let isParked: boolean;
    try {
      isParked = await drainHeld(request);
    } finally {
      await lease.release();
    }
    if (isParked || request.isStopped()) return;
    // Looked at again without the lease: a message that came in between found it held.
    if ((await request.queue.load()).messages.length === 0) return;
  }
}

async function drainHeld({ queue, run, currentHandle, isStopped }: DrainRequest): Promise<boolean> {
  for (;;) {
    const state = await queue.load();
    const message = state.messages[0];
    if (!message || isStopped()) return false;
    const isFinal = await run(message, state).then(() => true, isFinalError);
    const handle = currentHandle() ?? state.handle;
    await queue.update((before) => ({
      ...(isFinal ? removeMessage(before, message.turnId) : before),
      handle,
    }));
    if (!isFinal) return true;
  }
}

/** A turn its caller interrupted is over as well: kept, it would stand before the others for ever. */
function isFinalError(error: unknown): boolean {
  if (!isTurnError(error)) return false;
  return error.kind === 'turn_interrupted' ? error.isFinal : FINAL_KINDS.has(error.kind);
}

/** Nothing will ever change these. */
const FINAL_KINDS: ReadonlySet<string> = new Set(['undeliverable_message', 'turn_conflict']);
