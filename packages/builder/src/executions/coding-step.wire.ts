import type { CodingStage } from '../threads/stages/coding-stage.js';

/** A job as a step keeps it: what it is scheduled with, and the input as it is submitted. */
export interface StepJob {
  readonly input: unknown;
  readonly runnerId?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

/** Reads the job that a step keeps. Admission judges the input. */
export function readStepJob(message: string): StepJob {
  const { runnerId, timeoutMs, ...input } = JSON.parse(message) as {
    readonly runnerId?: string;
    readonly timeoutMs?: number;
  };
  return { input, runnerId, timeoutMs };
}

/** Reads the stage that a step keeps. Running it judges it. */
export function readStepStage(message: string): CodingStage {
  return JSON.parse(message) as CodingStage;
}
