/** The other side refused a call. */
export class JsonRpcRefusal extends Error {
  constructor(
    readonly method: string,
    readonly code: number,
    /** The other side's own words. */
    readonly reason: string,
    /** What it adds for programs. */
    readonly data?: unknown,
  ) {
    super(`${method} was refused: ${reason} (${code})`);
    this.name = 'JsonRpcRefusal';
  }
}

/**
 * No answer came. `wasSent` tells whether the call may have been taken: only a call that never left
 * may be made again without looking.
 */
export class JsonRpcLost extends Error {
  constructor(
    readonly method: string,
    readonly wasSent: boolean,
    readonly why: 'closed' | 'deadline',
  ) {
    const what = why === 'closed' ? 'the connection closed' : 'no answer came in time';
    super(`${method}: ${what}${wasSent ? ' after it was sent' : ''}.`);
    this.name = 'JsonRpcLost';
  }
}
