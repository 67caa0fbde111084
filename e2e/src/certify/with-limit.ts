/** A proof that takes longer hangs; what it started is ended with it. */
const CASE_LIMIT_MS = 600_000;

/** Rejects when the proof does not end in its time. */
export async function withLimit(
  proof: Promise<void>,
  limitMs: number = CASE_LIMIT_MS,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`The proof did not end within ${limitMs} ms.`)),
      limitMs,
    );
  });
  proof.catch(() => {});
  try {
    await Promise.race([proof, limit]);
  } finally {
    clearTimeout(timer);
  }
}
