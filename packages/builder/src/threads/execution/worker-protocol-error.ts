/** Why what a process said is not of the protocol between a runner and its worker. */
export type ProtocolFault =
  | 'frame_too_large'
  | 'frame_unreadable'
  | 'frame_malformed'
  | 'wrong_fence'
  | 'wrong_sequence'
  | 'out_of_order'
  | 'wrong_capabilities'
  | 'wrong_outcome';

/** The other side broke the protocol: nothing that it says counts any more. It never holds what was said. */
export class WorkerProtocolError extends Error {
  constructor(
    readonly fault: ProtocolFault,
    detail: string,
  ) {
    super(`The worker protocol is broken (${fault}): ${detail}.`);
    this.name = 'WorkerProtocolError';
  }
}
