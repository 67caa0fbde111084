import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  Agent,
  type AgentOptions,
  type CodingPlan,
  type FoundCodingAdapter,
  listProviders,
} from '@holdfast/agent';
import { CodingThreadError } from '../coding-thread-error.js';
import { findAdapterState } from './adapter-state.wire.js';
import type { ValidatedJob } from './job-run.js';
import type { JobThread } from './job-thread.js';
import { reviewSchema } from './read-review.wire.js';
import { selectModel } from './select-model.js';

/** The session of a job, planned and not begun. */
export interface CodingSession {
  readonly plan: CodingPlan;
  readonly model: string | undefined;
  /** What finds the conversation that is to go on; absent for a new one. */
  readonly kept: ReturnType<typeof findAdapterState>;
  /** A new agent for it: nothing is started. */
  readonly createAgent: () => Agent;
}

/** Plans the session of a job from its spec and from what its thread kept. Another explicit model is refused here. */
export function planSession(
  job: ValidatedJob,
  thread: Pick<JobThread, 'adapterState'>,
): CodingSession {
  const { spec, coding, found, policy, sessions } = job;
  const kept = findAdapterState(thread.adapterState);
  if (coding.thread?.mode === 'resume' && !kept) throw nativeMissing(coding.thread.sessionRef);
  const model = selectModel({ coding, policy, kept });
  const plan = found.adapter.plan(planRequestOf(job));
  const { binary, cliHome, endpoint, env } = spec.cli;
  const options = {
    ...plan.config,
    ...{ binary, cliHome, endpoint, model, sessions },
    env: { ...env, ...plan.config.env },
    transport: 'structured',
    stateDir: join(job.root, 'state'),
    limits: { inactivityMs: spec.inactivityMs },
    ...identityOf(job),
  } as const;
  return { plan, model, kept, createAgent: () => createAgent(found, options) };
}

/** An agent for a job's session, proven to be the one that is to go on. Starts nothing, and changes nothing. */
export async function prepareNative({ createAgent: create, kept }: CodingSession): Promise<Agent> {
  const agent = create();
  if (!kept) return agent;
  agent.applyAgentSessionHandle(kept.handle);
  const { session } = await agent.inspect();
  if (session?.state === 'absent') throw nativeMissing(kept.handle.sessionId);
  return agent;
}

function nativeMissing(sessionRef: string): CodingThreadError {
  return new CodingThreadError(
    'thread_native_missing',
    'The CLI no longer has the conversation of this thread; use a new session.',
    { sessionRef },
  );
}

/** Paths of a job, all below its thread's own folder. */
function planRequestOf(job: ValidatedJob): Parameters<FoundCodingAdapter['adapter']['plan']>[0] {
  const { spec, role, root, policy } = job;
  const { permissionSource: source, permissionMode: mode } = policy;
  const { cliHome } = spec.cli;
  return {
    role,
    workTree: join(root, 'work'),
    gitDir: join(root, 'repository.git'),
    scratch: join(root, 'scratch'),
    writableRoots: writablePathsOf(job),
    ownFolders: [join(root, 'state'), ...(cliHome === undefined ? [] : [cliHome])],
    // What is not there has nothing to hide, and nothing can be mounted on it.
    hiddenFolders: [spec.workspacesDir, spec.dataDir, ...spec.otherHomes.filter(existsSync)],
    permissions: { source, mode },
    // What the CLI must write of its own is known only of a home that was named.
    bubblewrap: cliHome === undefined ? undefined : spec.bubblewrap,
    outputSchema: role === 'review' ? reviewSchema : undefined,
  };
}

/** Where an implementer may write, on this machine. */
export function writablePathsOf({ role, root, writableRoots }: ValidatedJob): readonly string[] {
  return role === 'review' ? [] : writableRoots.map((path) => join(root, 'work', path));
}

function identityOf({ spec, coding }: ValidatedJob) {
  const { thread } = coding;
  return {
    scope: 'coding_thread',
    sessionId: thread?.sessionRef ?? spec.operationId,
    correlationId: thread?.stageId ?? spec.operationId,
  } as const;
}

function createAgent({ provider }: FoundCodingAdapter, options: object): Agent {
  const complete: object = { ...options, provider };
  if (!isAgentOptions(complete)) throw new TypeError(`No provider ${provider} is registered.`);
  return new Agent(complete);
}

/** The adapter's own provider planned them. */
function isAgentOptions(options: object): options is AgentOptions {
  return 'provider' in options && listProviders().some((id) => id === options.provider);
}
