import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { HandleJson } from '@holdfast/provider-core/certification';
import { getProviderFixture } from '../harness/providers/index.js';
import type { CodingEnd } from './coding-command.js';
import { type Conversation, composeInput, type JobParts } from './compose-input.js';
import {
  implementAgain,
  implementFirst,
  implementNextStage,
  reviewAgain,
  reviewFirst,
} from './stage-script.js';
import type { Pair, Role, ThreadBench } from './thread-bench.js';

/** One job of the diagram, as it was run. */
export interface StageJob {
  readonly name: string;
  readonly role: Role;
  readonly mode: 'new' | 'resume' | 'close';
  readonly stageId: string;
  readonly sessionRef: string;
  readonly servicePid: number;
  readonly workerPid: number;
  readonly input: HandleJson;
  readonly end: CodingEnd;
}

/** The jobs of the diagram by their names in it. */
export interface StageJobs {
  readonly I1: StageJob;
  readonly R1: StageJob;
  readonly I2: StageJob;
  readonly R2: StageJob;
  readonly closeI: StageJob;
  readonly closeR: StageJob;
  readonly B1: StageJob;
  readonly closeB: StageJob;
}

/** Told as each job ends. */
export type TellJob = (job: StageJob) => void;

/** Runs the diagram of two stages, each job in a service and a worker of its own. */
export async function runStages(bench: ThreadBench, pair: Pair, tell: TellJob): Promise<StageJobs> {
  const shellOf = (role: Role) => getProviderFixture(pair[role].provider).shellCall;
  const run = (name: string, parts: OwnParts) => runJob(bench, { name, ...parts }, tell);
  const outside = outsideOf(bench);

  const I = begin('implement', 'stage-A');
  const R = begin('review', 'stage-A');
  const I1 = await run('I1', { of: I, text: implementFirst(shellOf('implement'), outside) });
  const home = bench.homeOf('implement');
  const firstReview = { text: reviewFirst(shellOf('review'), I1.end, home), reviewId: 'review-1' };
  const R1 = await run('R1', { of: R, ...firstReview, candidate: I1.end });
  const priorReview = R1.end.review;
  const again = { of: after(I, I1), text: implementAgain(shellOf('implement')), priorReview };
  const I2 = await run('I2', again);
  const secondReview = { text: reviewAgain(shellOf('review'), I2.end), reviewId: 'review-2' };
  const R2 = await run('R2', { of: after(R, R1), ...secondReview, candidate: I2.end, priorReview });
  const closeI = await run('closeI', { of: after(I, I2), text: 'Close.', isClose: true });
  const closeR = await run('closeR', { of: after(R, R2), text: 'Close.', isClose: true });
  const B = begin('implement', 'stage-B');
  const B1 = await run('B1', { of: B, text: implementNextStage(shellOf('implement')) });
  const closeB = await run('closeB', { of: after(B, B1), text: 'Close.', isClose: true });
  return { I1, R1, I2, R2, closeI, closeR, B1, closeB };
}

/** Where an implementer may not write. */
export function outsideOf({ place }: ThreadBench): string {
  return join(place.root, 'outside.txt');
}

type OwnParts = Omit<JobParts, 'repository' | 'conversation' | 'operationId'> & {
  readonly of: Conversation;
};

async function runJob(
  bench: ThreadBench,
  { name, of, ...parts }: OwnParts & { readonly name: string },
  tell: TellJob,
): Promise<StageJob> {
  const operationId = `${name}-${of.sessionRef}`;
  const { repository } = bench;
  const input = composeInput({ repository, conversation: of, operationId, ...parts });
  const { end, workerPid, servicePid } = await bench.run(operationId, input);
  const { role, stageId, sessionRef, checkpoint } = of;
  const mode = checkpoint === undefined ? 'new' : parts.isClose ? 'close' : 'resume';
  const job: StageJob = {
    ...{ name, role, mode, stageId, sessionRef },
    ...{ servicePid, workerPid, input, end },
  };
  tell(job);
  return job;
}

function begin(role: Role, stageId: string): Conversation {
  return { role, stageId, sessionRef: randomUUID() };
}

function after(conversation: Conversation, { end }: StageJob): Conversation {
  return { ...conversation, checkpoint: end.thread?.checkpoint };
}
