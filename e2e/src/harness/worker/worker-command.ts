import { writeSync } from 'node:fs';
import type { HostRequest, ImagePart, SteerResult } from '@holdfast/provider-core';
import type {
  HandleJson,
  ScriptedDecision,
  SpokenMessage,
} from '@holdfast/provider-core/certification';
import { plantInReport } from './plant-in-report.js';

/** A call that only an agent has. */
export type HistoryAction = {
  readonly provider: string;
  readonly agentConfig: HandleJson;
} & (
  | {
      readonly type: 'converse';
      readonly handle?: HandleJson | undefined;
      readonly messages: readonly SpokenMessage[];
      readonly options: WorkerTurnOptions;
    }
  | { readonly type: 'continue_without_handle'; readonly message: string }
  /** Keeps the messages in the durable queue, tells that they are kept, and delivers them. */
  | { readonly type: 'queue'; readonly handle: HandleJson; readonly messages: readonly string[] }
);

/** One call that a worker makes. */
export type WorkerAction =
  | HistoryAction
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
      readonly archive?: boolean | undefined;
    };

export interface WorkerTurnOptions {
  readonly turnId?: string | undefined;
  readonly onInterrupted?: 'fail' | 'resume' | undefined;
  readonly whenBusy?: 'fail' | 'wait' | undefined;
  readonly draft?: 'keep' | 'replace' | undefined;
  readonly limits?: Readonly<Record<string, number>> | undefined;
  readonly transport?: 'auto' | 'tmux' | 'structured' | undefined;
  readonly waitFor?: 'turn' | 'quiescence' | undefined;
}

/** What a worker is told on its first line. */
export interface WorkerCommand {
  readonly layer: 'provider-core' | 'agent';
  readonly stateDir: string;
  readonly action: WorkerAction;
  /** Sent with the message, behind its text. */
  readonly images?: readonly ImagePart[] | undefined;
  /** How `onApproval` answers, in order, the last one again and again; without it there is no handler. */
  readonly decisions?: readonly ScriptedDecision[] | undefined;
  /** A planted fault in the layer itself, for runs that must fail. */
  readonly plant?: string | undefined;
}

/** What a worker tells, one a line. */
export type WorkerReport =
  | { readonly type: 'event'; readonly event: unknown }
  | { readonly type: 'handle'; readonly handle: HandleJson }
  | { readonly type: 'request'; readonly request: HostRequest }
  | { readonly type: 'steered'; readonly result: SteerResult }
  | { readonly type: 'result'; readonly result: unknown }
  | { readonly type: 'error'; readonly error: unknown };

let plant: string | undefined;

/** Makes every later report pass through a planted fault. */
export function plantInReports(fault: string | undefined): void {
  plant = fault;
}

/** What a worker is told after its first line, one a line. */
export type WorkerOrder =
  | { readonly order: 'interrupt' }
  | { readonly order: 'steer'; readonly text: string };

/** What the orders of a worker reach: the turn that it runs. */
export interface OrderTarget {
  readonly interrupted: AbortSignal;
  readonly onSteer: (steer: (text: string) => Promise<SteerResult>) => void;
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
  /** Nothing here asks an agent to keep the text for later, so that its answer is one of provider-core's. */
  readonly steer: (text: string) => Promise<{ readonly outcome: string; readonly detail: string }>;
}

/** Reports a turn's events, handle and result; rejects with its error. */
export async function reportTurn<Handle>(
  turn: ReportableTurn<Handle>,
  encode: (handle: Handle) => unknown,
  { interrupted, onSteer }: OrderTarget,
): Promise<void> {
  interrupted.addEventListener('abort', () => void turn.interrupt());
  onSteer((text) => turn.steer(text) as Promise<SteerResult>);
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
