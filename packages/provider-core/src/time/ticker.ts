/** Calls `act` every `ms` until disposed, without keeping the process alive. For signs of life only. */
export function startTicker(ms: number, act: () => void): Disposable {
  const timer = setInterval(act, ms);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
