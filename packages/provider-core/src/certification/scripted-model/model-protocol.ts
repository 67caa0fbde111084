import type { ModelProtocol, ModelRequest, ReceivedRequest } from './model-request.js';
import type { Reply, ReplyError, ReplyUsage, StreamPart } from './reply.js';

/** What one protocol knows: how its requests read, and how an answer is written in it. Pure. */
export interface ModelProtocolForm {
  readonly protocol: ModelProtocol;
  /** Whether a POST to this path (without its query) belongs to the protocol. */
  readonly isPath: (path: string) => boolean;
  readonly readRequest: (received: ReceivedRequest) => ModelRequest;
  readonly writeStream: (reply: Reply) => readonly StreamPart[];
  readonly writeStreamError: (reply: Reply, type: string) => StreamPart;
  readonly writeWhole: (reply: Reply) => object;
  readonly writeError: (error: ReplyError) => object;
  readonly writeTokenCount: (usage: ReplyUsage) => object;
}
