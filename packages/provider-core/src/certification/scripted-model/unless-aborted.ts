/** Resolves when `start` says so, or rejects with the signal's reason, whichever comes first. */
export function unlessAborted<Value = void>(
  signal: AbortSignal,
  start: (resolve: (value: Value) => void) => void,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    start((value) => {
      signal.removeEventListener('abort', onAbort);
      resolve(value);
    });
  });
}
