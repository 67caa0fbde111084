import { keys } from '../persistence/keys.js';
import type { Store } from '../persistence/store.js';
import type { ContinuationState } from '../workflow/continuation-state.js';
import { EXECUTIONS_QUEUE, type ExecutionContext } from './execution-context.js';
import { type ExecutionKey, readExecutionId } from './execution-key.js';
import { findState } from './execution-state.js';

/** Notes whom an execution owns, before that one begins: its completion waits for it. */
export async function noteChild(
  store: Store,
  owner: ExecutionKey,
  childExecutionId: string,
): Promise<void> {
  await store.write([...keys.children(owner), `${childExecutionId}.json`], {}, { mode: 'create' });
}

/** Everything an execution ever owned, by id, ended ones included. */
export async function listChildren(store: Store, owner: ExecutionKey): Promise<readonly string[]> {
  const names = await store.list(keys.children(owner));
  return names.map((name) => name.replace(/\.json$/, ''));
}

/** The owned executions that have not ended. One that was noted and never begun is none. */
export async function listOpenChildren(
  context: ExecutionContext,
  owner: ExecutionKey,
): Promise<readonly string[]> {
  const open: string[] = [];
  let queued: ReadonlySet<string> | undefined;
  for (const id of await listChildren(context.store, owner)) {
    const state = await findState(context.store, readExecutionId(id));
    if (state?.outcome === 'open') open.push(id);
    if (state) continue;
    // A crash between the note and the state: with a job it will be, without one nobody was told that it is.
    queued ??= new Set((await context.engine.list(EXECUTIONS_QUEUE)).map((job) => job.id));
    if (queued.has(id)) open.push(id);
  }
  return open;
}

/** How often the end of an execution that another process drives is looked for. */
const LOOK_MS = 250;

/** Resolves once an execution has ended, in whichever process. */
export async function waitForEnd(
  { store, notices, closing, checkOpen }: ExecutionContext,
  executionId: string,
  signal?: AbortSignal,
): Promise<ContinuationState> {
  const either = signal ? AbortSignal.any([signal, closing]) : closing;
  for (;;) {
    signal?.throwIfAborted();
    const waiting = notices.waitForEnd([executionId], { ms: LOOK_MS, signal: either });
    // Nobody waits for it once the state says that all is over.
    waiting.catch(() => {});
    // Looked at after the notice is armed: an end in between is not missed.
    const state = await findState(store, readExecutionId(executionId));
    if (state && state.outcome !== 'open') return state;
    signal?.throwIfAborted();
    // Whoever waits on would keep its process alive for what nobody here drives any more.
    checkOpen();
    await waiting.catch(() => {});
  }
}
