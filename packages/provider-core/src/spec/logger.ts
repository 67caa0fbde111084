/** The part of a pino logger that is used here. Silent when none is given. */
export interface Logger {
  readonly debug: LogMethod;
  readonly info: LogMethod;
  readonly warn: LogMethod;
  readonly error: LogMethod;
  readonly child: (bindings: Readonly<Record<string, unknown>>) => Logger;
}

type LogMethod = (fields: Readonly<Record<string, unknown>>, message: string) => void;

/** Says nothing. */
export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLogger,
};
