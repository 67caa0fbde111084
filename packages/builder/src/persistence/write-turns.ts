const turns = new Map<string, Promise<unknown>>();

/** Runs one act after another for each path, in the order of the calls, whichever store of this process asks. */
export function inTurn<Value>(path: string, act: () => Promise<Value>): Promise<Value> {
  const done = (turns.get(path) ?? Promise.resolve()).then(act);
  // One failed write is its caller's; the next one tries anew.
  const settled = done.then(
    () => {},
    () => {},
  );
  turns.set(path, settled);
  void settled.then(() => {
    if (turns.get(path) === settled) turns.delete(path);
  });
  return done;
}
