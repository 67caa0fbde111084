import { type ApiCell, apiCells } from './api/api-cell.js';

/** The durable steps of the turn machine at which the service is killed. */
export const steps = [
  'start_recorded',
  'native_session_known',
  'prepared',
  'opened',
  'before_submitting',
  'submitting',
  // Between paste and Enter, where a provider is typed to; elsewhere it is `submitting`.
  'pasted',
  'submitted',
  'accepted',
  'answered',
  'before_ended',
  'ended',
] as const;

/** When something else than the service alone is killed. */
export const windows = [
  'between_turns',
  'at_request',
  'before_first_byte',
  'mid_stream',
  'in_tool',
  'after_tool_block',
  'after_end',
] as const;

/** What is killed; `server` only where the provider has one, `machine` is all of it and the service. */
export const targets = ['service', 'pane', 'cli', 'server', 'tmux_server', 'machine'] as const;

export type Step = (typeof steps)[number];
export type Window = (typeof windows)[number];
export type Target = (typeof targets)[number];

/** One kill that is to be made. */
export type FaultCell =
  | { readonly kind: 'step'; readonly step: Step }
  | {
      readonly kind: 'window';
      readonly window: Window;
      readonly target: Target;
      /** How long after the window the kill comes. */
      readonly delayMs: number;
    }
  | { readonly kind: 'api'; readonly cell: ApiCell };

/** The steps that only a first turn takes. */
export function isStartStep(step: Step): boolean {
  return step === 'start_recorded' || step === 'native_session_known';
}

/** A cell in a few words. */
export function nameCell(cell: FaultCell): string {
  if (cell.kind === 'api') return `service at ${cell.cell}`;
  return cell.kind === 'step'
    ? `service at ${cell.step}`
    : `${cell.target} ${cell.window}+${cell.delayMs}ms`;
}

/** Reads a cell as `--cell` names it: a step, a moment of an API agent, or `<target>:<window>:<delay in ms>`. */
export function readCell(name: string): FaultCell {
  const step = steps.find((one) => one === name);
  if (step) return { kind: 'step', step };
  const cell = apiCells.find((one) => one === name);
  if (cell) return { kind: 'api', cell };
  const [first, second, delay] = name.split(':');
  const target = targets.find((one) => one === first);
  const window = windows.find((one) => one === second);
  if (!target || !window) throw new Error(`${name} is no step and no <target>:<window>:<delay>.`);
  return { kind: 'window', window, target, delayMs: Number(delay ?? 0) };
}
