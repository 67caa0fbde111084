/** Why tmux did not do what was asked; each code has its own next step for the caller. */
export type TmuxErrorCode =
  | 'server_gone'
  | 'no_pane'
  | 'command_failed'
  | 'too_old'
  | 'missing'
  | 'unresponsive';

interface TmuxErrorOptions extends ErrorOptions {
  readonly mayHaveRun?: boolean;
}

/** A tmux command that failed, told apart by {@link TmuxError.code}. */
export class TmuxError extends Error {
  /** True when tmux had been handed the command, so that its effect is unknown rather than absent. */
  readonly mayHaveRun: boolean;

  constructor(
    readonly code: TmuxErrorCode,
    message: string,
    { mayHaveRun = false, ...options }: TmuxErrorOptions = {},
  ) {
    super(message, options);
    this.name = 'TmuxError';
    this.mayHaveRun = mayHaveRun;
  }
}

/** Narrows a caught value to a {@link TmuxError}, and to one code when it is given. */
export function isTmuxError(value: unknown, code?: TmuxErrorCode): value is TmuxError {
  return value instanceof TmuxError && (code === undefined || value.code === code);
}
