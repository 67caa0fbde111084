import { type AgentTurn, systemClock } from '@holdfast/agent';
import type { WorkflowEventBody } from '../workflow/workflow-event.js';

/** What is open of one execution in this process. */
export interface OpenHere {
  /** The turn that runs in its session. */
  readonly turn: () => AgentTurn | undefined;
  readonly tell: (event: WorkflowEventBody) => Promise<void>;
}

/** What happens to executions in this process. Only to be quicker: the records decide, and are looked at anyway. */
export interface ExecutionNotices {
  readonly open: (executionId: string, here: OpenHere) => Disposable;
  readonly find: (executionId: string) => OpenHere | undefined;
  readonly tellEnded: (executionId: string) => void;
  /** Resolves when one of them ends here, or after a while. Rejects as soon as the signal aborts. */
  readonly waitForEnd: (
    executionIds: readonly string[],
    options: { readonly ms: number; readonly signal?: AbortSignal | undefined },
  ) => Promise<void>;
}

/** The notices of one builder. */
export function createExecutionNotices(): ExecutionNotices {
  const open = new Map<string, OpenHere>();
  const waiting = new Set<(executionId: string) => void>();
  return {
    open: (executionId, here) => {
      open.set(executionId, here);
      const close = () => {
        if (open.get(executionId) === here) open.delete(executionId);
      };
      return { [Symbol.dispose]: close };
    },
    find: (executionId) => open.get(executionId),
    tellEnded: (executionId) => {
      for (const notice of waiting) notice(executionId);
    },
    waitForEnd: async (executionIds, { ms, signal }) => {
      signal?.throwIfAborted();
      const noticed = new AbortController();
      const notice = (ended: string) => {
        if (executionIds.includes(ended)) noticed.abort();
      };
      waiting.add(notice);
      const either = signal ? AbortSignal.any([noticed.signal, signal]) : noticed.signal;
      try {
        await systemClock.sleep(ms, either).catch(() => {});
        signal?.throwIfAborted();
      } finally {
        waiting.delete(notice);
      }
    },
  };
}
