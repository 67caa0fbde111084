/** Runs the jobs in order, at most `width` at a time, and hands each outcome over as it comes. */
export async function runJobs<Job, Outcome>(
  jobs: readonly Job[],
  width: number,
  run: (job: Job) => Promise<Outcome>,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  const waiting = [...jobs];
  const lane = async () => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      outcomes.push(await run(job));
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  return outcomes;
}
