import { writeSync } from 'node:fs';
import type { TurnLimits } from '@holdfast/provider-core';
import type { HandleJson } from '@holdfast/provider-core/certification';
import { plantInReport } from './plant-in-report.js';

/** One call that a worker makes. */
export type WorkerAction =
  | {
      readonly type: 'start';
      readonly provider: string;
      readonly config: HandleJson;
      readonly message: string;
      readonly options: WorkerTurnOptions;
    }
  | {
      readonly type: 'continue';
      readonly provider: string;
      readonly handle: HandleJson;
      readonly config?: HandleJson | undefined;
      /** What an agent must be made with; provider-core needs none of it. */
      readonly agentConfig: HandleJson;
      readonly message: string;
      readonly options: WorkerTurnOptions;
    }
  | { readonly type: 'inspect'; readonly handle: HandleJson }
  | {
      readonly type: 'close';
      readonly provider: string;
      readonly handle: HandleJson;
      readonly agentConfig: HandleJson;
    };

export interface WorkerTurnOptions {
  readonly turnId?: string | undefined;
  readonly onInterrupted?: 'fail' | 'resume' | undefined;
  readonly whenBusy?: 'fail' | 'wait' | undefined;
  readonly draft?: 'keep' | 'replace' | undefined;
  readonly limits?: Partial<TurnLimits> | undefined;
}

/** What a worker is told on its first line. */
export interface WorkerCommand {
  readonly layer: 'provider-core' | 'agent';
  readonly stateDir: string;
  readonly action: WorkerAction;
  /** A planted fault in the layer itself, for runs that must fail. */
  readonly plant?: string | undefined;
}

/** What a worker tells, one a line. */
export type WorkerReport =
  | { readonly type: 'event'; readonly event: unknown }
  | { readonly type: 'handle'; readonly handle: HandleJson }
  | { readonly type: 'result'; readonly result: unknown }
  | { readonly type: 'error'; readonly error: unknown };

let plant: string | undefined;

/** Makes every later report pass through a planted fault. */
export function plantInReports(fault: string | undefined): void {
  plant = fault;
}

/** Writes one line at once, so that it is out before the process can be killed. */
export function reportLine(told: WorkerReport): void {
  const report = plantInReport(told, plant);
  if (!report) return;
  let line = Buffer.from(`${JSON.stringify(report)}\n`);
  while (line.length > 0) {
    try {
      line = line.subarray(writeSync(1, line));
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
    }
  }
}

interface ReportableTurn<Handle> extends PromiseLike<object>, AsyncIterable<object> {
  readonly handle: Promise<Handle>;
  readonly interrupt: () => Promise<void>;
}

/** Reports a turn's events, handle and result; rejects with its error. */
export async function reportTurn<Handle>(
  turn: ReportableTurn<Handle>,
  encode: (handle: Handle) => unknown,
  interrupted: AbortSignal,
): Promise<void> {
  interrupted.addEventListener('abort', () => void turn.interrupt());
  turn.handle.then(
    (handle) => reportLine({ type: 'handle', handle: encode(handle) as HandleJson }),
    () => {},
  );
  const events = (async () => {
    for await (const event of turn) reportLine({ type: 'event', event });
  })().catch(() => {});
  try {
    const result = await turn;
    await events;
    const handle = encode(await turn.handle);
    reportLine({
      type: 'result',
      result: { ...result, handle: 'handle' in result ? encode(result.handle as Handle) : handle },
    });
  } catch (error) {
    await events;
    throw error;
  }
}
