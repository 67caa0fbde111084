import type { CliUnderTest } from '../harness/cli-under-test.js';
import type { StageCheck } from '../threads/check.js';
import { judgeStages } from '../threads/judge-stages.js';
import { runStages, type StageJob } from '../threads/run-stages.js';
import { type Pair, ThreadBench } from '../threads/thread-bench.js';

/** One row of the table: a job of the diagram. */
export interface ThreadRow {
  readonly job: string;
  readonly role: string;
  readonly stage: string;
  readonly mode: string;
  readonly workerPid: number;
  readonly nativeId: string;
  readonly checkpoint: string;
  readonly state: string;
  readonly outcome: string;
  readonly patchDigest: string;
}

/** What the demo of coding threads shows of a pair of CLIs. */
export interface ThreadsDemoReport {
  readonly implementer: string;
  readonly reviewer: string;
  readonly jobs: readonly ThreadRow[];
  readonly checks: readonly StageCheck[];
}

/** Two stages of an implementer and a reviewer, each job in a worker process of its own. */
export async function keepThreads(
  pair: Pair,
  onJob: (row: ThreadRow) => void,
): Promise<ThreadsDemoReport> {
  const name = ({ provider, version }: CliUnderTest) => `${provider} ${version}`;
  await using bench = await ThreadBench.create({ pair });
  const jobs = await runStages(bench, pair, (job) => onJob(describeJob(job)));
  return {
    implementer: name(pair.implement),
    reviewer: name(pair.review),
    jobs: Object.values(jobs).map(describeJob),
    checks: await judgeStages(bench, jobs),
  };
}

function describeJob(job: StageJob): ThreadRow {
  const { name, role, stageId, mode, workerPid, end } = job;
  const verdict = end.review ? `: ${end.review.verdict}` : '';
  return {
    ...{ job: name, role, mode, workerPid },
    stage: stageId,
    nativeId: String(end.evidence['nativeId'] ?? ''),
    checkpoint: end.thread?.checkpoint ?? '',
    state: end.thread?.state ?? '',
    outcome: `${end.outcome}${verdict}`,
    patchDigest: end.patch?.patchDigest ?? '',
  };
}
