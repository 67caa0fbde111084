/** Called with the name of each durable step, synchronously, right after the step. */
export type FaultHook = (step: string) => void;

let hook: FaultHook | undefined;

/** Installs a hook for fault runs: it may kill the process or throw. `undefined` takes it out. */
export function setFaultHook(next: FaultHook | undefined): void {
  hook = next;
}

/** Names the durable step that was just taken. Does nothing unless a fault run listens. */
export function faultPoint(step: string): void {
  hook?.(step);
}
