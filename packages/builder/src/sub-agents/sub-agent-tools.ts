import { createHash } from 'node:crypto';
import type { Logger } from '@holdfast/agent';
import { readExecutionId } from '../executions/execution-key.js';
import { type SessionOwner, sessionOwnerId } from '../executions/execution-owner.js';
import type { Executions, StartExecution } from '../executions/executions.js';
import type { Store } from '../persistence/store.js';
import type { ContinuationState } from '../workflow/continuation-state.js';
import { isWorkflowError } from '../workflow/workflow-error.js';
import { describeSubAgent, summarizeSubAgent } from './describe-sub-agent.js';
import { findFence } from './find-fence.js';
import type { SubAgentCall, ToolAnswer } from './sub-agent-call.js';
import { encodeCallRecord, findCallRecord } from './sub-agent-call.wire.js';
import { findSubAgentDepth, MAX_SUB_AGENT_DEPTH } from './sub-agent-depth.js';
import { isSubAgentStep, subAgentKeyOf, subAgentRunOf } from './sub-agent-place.js';

/** What the tools work with. */
export interface SubAgentToolsOptions {
  readonly store: Store;
  readonly executions: () => Executions;
  /** The ids that may be called. */
  readonly agents: readonly string[];
  readonly logger?: Logger | undefined;
}

/** Which execution a tool is about. */
export interface ExecutionReference {
  readonly executionId: string;
}

/** The tools of one session. Each rejects with whatever the executions say. */
export interface SubAgentTools {
  /** On disk and queued when it resolves; it does not wait for the end. */
  readonly call: (call: SubAgentCall) => Promise<ToolAnswer>;
  readonly get: (reference: ExecutionReference) => Promise<ToolAnswer>;
  readonly list: () => Promise<ToolAnswer>;
  readonly stop: (reference: ExecutionReference) => Promise<ToolAnswer>;
}

/** What a caller can do: start agents that may be called, and look after those it started. */
export function createSubAgentTools(
  caller: SessionOwner,
  options: SubAgentToolsOptions,
): SubAgentTools {
  return {
    call: (call) => callSubAgent(caller, call, options),
    get: async ({ executionId }) => {
      const state = await findOwn(caller, executionId, options);
      return state ? { value: describeSubAgent(state) } : notOwn(executionId);
    },
    list: async () => {
      const states = await options.executions().list(subAgentRunOf(caller));
      const own = states.filter((state) => isOwn(caller, state));
      return { value: { sub_agents: own.map(summarizeSubAgent) } };
    },
    stop: async ({ executionId }) => {
      if (!(await findOwn(caller, executionId, options))) return notOwn(executionId);
      await options.executions().stop(executionId, `stopped by ${sessionOwnerId(caller)}`);
      return { value: describeSubAgent(await options.executions().get(executionId)) };
    },
  };
}

async function callSubAgent(
  caller: SessionOwner,
  call: SubAgentCall,
  options: SubAgentToolsOptions,
): Promise<ToolAnswer> {
  const { agents, store } = options;
  if (!agents.includes(call.agent)) {
    return { refusal: `There is no agent ${call.agent}. Call one of: ${agents.join(', ')}.` };
  }
  const executions = options.executions();
  if ((await findSubAgentDepth(caller, executions)) >= MAX_SUB_AGENT_DEPTH) return tooDeep();
  const before = await findFence(caller, { store, executions });
  if (before !== undefined) return fenced(before);
  const request = await requestOf(caller, call, executions);
  const state = await executions.start(request);
  if (!isSameCall(state, request)) {
    return { refusal: `The key ${call.key} was used for another call. Use a new key.` };
  }
  // Whoever stops the caller stops what it then owns; this one may have come right after it looked.
  const after = await findFence(caller, { store, executions });
  if (after === undefined) return { value: { execution_id: state.executionId } };
  await executions.stop(state.executionId, `${after} was stopped`);
  return fenced(after);
}

function tooDeep(): ToolAnswer {
  return {
    refusal: `too_deep: ${MAX_SUB_AGENT_DEPTH} sub-agents stand in a line already, each called by the one before, and you are the last. Do the work yourself, or say in your answer what is left to do.`,
  };
}

function fenced(executionId: string): ToolAnswer {
  return { refusal: `${executionId} was stopped: nothing more is begun for it.` };
}

async function requestOf(
  caller: SessionOwner,
  call: SubAgentCall,
  executions: Executions,
): Promise<StartExecution> {
  const { agent, prompt, notify = true, background = false, key } = call;
  const parent = caller.kind === 'execution' ? await executions.get(caller.executionId) : undefined;
  const callDigest = digestOf([agent, prompt, notify, background]);
  return {
    key: subAgentKeyOf(caller, key),
    ownerKind: background ? 'background_agent' : 'sub_agent',
    agent,
    prompt,
    ...(background ? {} : { owner: caller }),
    ...(notify ? { notify: caller } : {}),
    correlationId: parent?.correlationId ?? sessionOwnerId(caller),
    input: encodeCallRecord({ calledBy: caller, callDigest, ...(key !== undefined && { key }) }),
  };
}

function digestOf(call: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(call)).digest('hex');
}

/** Whether what stands there was begun by this very call: a key may have been used before, for something else. */
function isSameCall({ input }: ContinuationState, request: StartExecution): boolean {
  const [stored, asked] = [findCallRecord(input), findCallRecord(request.input)];
  return stored?.callDigest === asked?.callDigest && stored?.key === asked?.key;
}

/** The state of an execution that the caller began or owns; `undefined` for every other, so that none is told of. */
async function findOwn(
  caller: SessionOwner,
  executionId: string,
  { executions }: SubAgentToolsOptions,
): Promise<ContinuationState | undefined> {
  try {
    const { step, ...run } = readExecutionId(executionId);
    if (!isSubAgentStep(step) || !isSameRun(run, subAgentRunOf(caller))) return undefined;
    const state = await executions().get(executionId);
    return isOwn(caller, state) ? state : undefined;
  } catch (error) {
    const isUnknown = isWorkflowError(error) && error.kind === 'unknown_execution';
    // A model makes ids up; one that cannot be an id is as unknown as any other.
    if (isUnknown || error instanceof TypeError) return undefined;
    throw error;
  }
}

type RunPlace = ReturnType<typeof subAgentRunOf>;

function isSameRun(one: RunPlace, other: RunPlace): boolean {
  return one.iteration === other.iteration && one.group === other.group;
}

function isOwn(caller: SessionOwner, { stepId, input, owner }: ContinuationState): boolean {
  if (!isSubAgentStep(stepId)) return false;
  const starters = [findCallRecord(input)?.calledBy, owner].filter((one) => one !== undefined);
  return starters.some((one) => sessionOwnerId(one) === sessionOwnerId(caller));
}

function notOwn(executionId: string): ToolAnswer {
  return { refusal: `You started no sub-agent ${executionId}. list_sub_agents tells which.` };
}
