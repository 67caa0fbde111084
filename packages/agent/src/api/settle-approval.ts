import { randomUUID } from 'node:crypto';
import type { ApprovalRequest, HostDecision } from '@holdfast/provider-core';
import { raceDeadline } from './race.js';
import type { TranscriptRecord } from './transcript-record.js';
import { record, type TurnContext } from './turn-context.js';
import type { CallPosition } from './turn-position.js';

type Settled = Pick<
  Extract<TranscriptRecord, { readonly type: 'approval_settled' }>,
  'decision' | 'by' | 'message' | 'updatedInput'
>;

/**
 * Asks the host about one call and records what it said. A request that an earlier process left open is asked again under
 * its own id. Nobody there, no answer in time, or a handler that fails: deny.
 */
export async function settleApproval(
  context: TurnContext,
  { step, call, state }: CallPosition,
): Promise<void> {
  const { turnId, emit } = context;
  const { callId, toolName, input } = call;
  const requestId = state.approval?.requestId ?? randomUUID();
  const detail = `${toolName} ${JSON.stringify(input) ?? ''}`.slice(0, 500);
  const place = { turnId, step, callId, requestId };
  if (!state.approval) {
    await record(context, { type: 'approval_requested', ...place, toolName, detail });
  }
  emit({ type: 'approval_requested', detail, requestId, toolName });
  const request: ApprovalRequest = { type: 'approval', requestId, toolName, input, detail };
  const settled = await decide(context, request);
  const { decision, by } = settled;
  emit({ type: 'approval_settled', requestId, decision, by });
  if (by === 'interrupt') context.signal.throwIfAborted();
  await record(context, { type: 'approval_settled', ...place, ...settled }, { sync: false });
}

async function decide(context: TurnContext, request: ApprovalRequest): Promise<Settled> {
  const { onApproval, limits, clock, logger } = context.options;
  const { signal } = context;
  if (!onApproval) {
    return { decision: 'deny', by: 'policy', message: 'nobody is there who could approve it' };
  }
  const settled = new AbortController();
  const handled = (async () => {
    const handlerSignal = AbortSignal.any([signal, settled.signal]);
    return readDecision(await onApproval(request, { signal: handlerSignal }));
  })();
  const late: Settled = { decision: 'deny', by: 'deadline', message: 'nobody answered in time' };
  try {
    return await raceDeadline(handled, late, { limitMs: limits.approvalMs, signal, clock });
  } catch (error) {
    if (signal.aborted) return { decision: 'deny', by: 'interrupt' };
    logger.warn({ err: error, request_id: request.requestId }, 'approval handler failed');
    return { decision: 'deny', by: 'host', message: 'the approval could not be decided' };
  } finally {
    settled.abort();
  }
}

function readDecision(decision: HostDecision): Settled {
  if (decision.decision === 'allow') {
    const { updatedInput } = decision;
    return {
      decision: 'allow',
      by: 'host',
      ...(updatedInput === undefined ? {} : { updatedInput }),
    };
  }
  const message = decision.decision === 'deny' ? decision.message : undefined;
  return { decision: 'deny', by: 'host', ...(message === undefined ? {} : { message }) };
}
