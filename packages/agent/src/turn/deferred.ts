/** A promise and the two functions that settle it; a rejection nobody awaits stays quiet. */
export interface Deferred<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: unknown) => void;
}

/** Makes a promise that is settled from outside; Node 20 has no `Promise.withResolvers`. */
export function createDeferred<Value>(): Deferred<Value> {
  let settle: Pick<Deferred<Value>, 'resolve' | 'reject'> | undefined;
  const promise = new Promise<Value>((resolve, reject) => {
    settle = { resolve, reject };
  });
  promise.catch(() => {});
  if (!settle) throw new Error('unreachable: a promise runs its executor at once');
  return { promise, ...settle };
}
