import { faultPoint } from '@holdfast/provider-core';
import { UNKNOWN_OUTCOME } from './build-messages.js';
import { raceDeadline } from './race.js';
import { settleApproval } from './settle-approval.js';
import { judgeTool } from './tool-policy.js';
import type { ToolResult } from './tools/tool-box.js';
import type { CallEnding } from './transcript-record.js';
import { record, type TurnContext } from './turn-context.js';
import type { CallPosition } from './turn-position.js';

/** Lets the tool policy decide over a call: it is made, refused, or asked about. */
export async function judgeCall(context: TurnContext, position: CallPosition): Promise<void> {
  const { toolName } = position.call;
  const tool = context.tools.get(toolName);
  if (!tool) return refuse(context, position, `There is no tool ${toolName}.`);
  const policy = context.config.toolPolicy ?? { permissions: 'ask' };
  const verdict = judgeTool(policy, toolName, tool.traits);
  if (verdict.verdict === 'run') return makeCall(context, position);
  if (verdict.verdict === 'ask') return settleApproval(context, position);
  return refuse(context, position, `Denied: ${verdict.why}.`);
}

/** Tells the model what whoever was asked said. */
export function tellRefused(context: TurnContext, position: CallPosition): Promise<void> {
  const message = position.state.approval?.settled?.message;
  return refuse(context, position, `Denied${message ? `: ${message}` : ''}.`);
}

/** Tells the model that a call was made and that nobody saw its end. */
export async function tellUnknown(context: TurnContext, position: CallPosition): Promise<void> {
  const text = `the outcome of ${position.call.toolName} is not known; it was not called again`;
  context.emit({ type: 'notice', text });
  await finish(context, position, { output: UNKNOWN_OUTCOME, isError: true }, 'unknown');
}

/** Makes one call, with a durable line before it and one after it. */
export async function makeCall(context: TurnContext, position: CallPosition): Promise<void> {
  const { toolBox, turnId, signal, options, emit } = context;
  const { step, call, state } = position;
  const { callId, toolName } = call;
  emit({ type: 'tool_started', name: toolName, callId });
  await record(context, { type: 'tool_call_started', turnId, step, callId, toolName });
  const input = state.approval?.settled?.updatedInput ?? call.input;
  const { inactivityMs } = options.limits;
  const made = toolBox.call(toolName, input, { signal, inactivityMs });
  // The tool's own limit comes first; this one ends the wait for a tool that does not keep to it.
  const limitMs = inactivityMs + options.limits.interruptMs;
  const expired = {
    output: 'The tool gave no result in time. It may have taken effect.',
    isError: true,
  };
  const result = await raceDeadline(made, expired, { limitMs, signal, clock: options.clock });
  faultPoint('api:tool-called');
  await finish(context, position, result, 'called');
  emit({ type: 'tool_finished', name: toolName, callId });
}

async function refuse(context: TurnContext, position: CallPosition, output: string): Promise<void> {
  await finish(context, position, { output, isError: true }, 'denied');
}

function finish(
  context: TurnContext,
  { step, call }: CallPosition,
  { output, isError }: ToolResult,
  ending: CallEnding,
): Promise<void> {
  const { turnId } = context;
  const { callId } = call;
  // Half a character in a tool's output would spoil every later request.
  const body = { turnId, step, callId, output: output.toWellFormed(), isError, ending };
  return record(context, { type: 'tool_call_finished', ...body });
}
