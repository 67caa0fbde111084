import type { RecordCursor } from '../../spec/record-event.js';
import type { StreamProcess } from '../../spec/stream-process.js';
import type { ImagePart } from '../../spec/turn.js';
import type { RecordReading, SessionContext, SessionTransport } from '../session-transport.js';
import { findMentionedFile } from '../typed-pane/find-refusal.js';
import { findForeignOwner } from '../typed-pane/observe-session.js';
import { readSessionRecord } from '../typed-pane/read-session-record.js';
import { endStreamSession } from './end-session.js';
import { observeStream } from './observe-stream.js';
import { openStreamSession } from './open-stream-session.js';
import { inStreamFolder } from './stream-files.js';
import { keepLastEnds } from './turn-ends.js';

/** Drives any CLI that is declared as a {@link StreamProcess}: one process a session, which goes on without us. */
export function createStreamProcessTransport(way: StreamProcess): SessionTransport {
  return {
    observe: (context) => observeStream(way, inStreamFolder(context)),
    readRecord: (context, since) => readRecord(way, context, since),
    findForeignOwner: (context) => findForeignOwner(way, context),
    findRefusal: (context, text, images) => findRefusal(way, context, text, images),
    open: (context, request) => openStreamSession(way, inStreamFolder(context), request),
    end: (context, request) => endStreamSession(way, inStreamFolder(context), request),
  };
}

async function readRecord(
  way: StreamProcess,
  context: SessionContext,
  since: RecordCursor | undefined,
): Promise<RecordReading> {
  const reading = await readSessionRecord(way, context, since);
  return reading.state === 'readable'
    ? { ...reading, events: keepLastEnds(reading.events) }
    : reading;
}

async function findRefusal(
  way: StreamProcess,
  { config, cliVersion }: SessionContext,
  text: string,
  images: readonly ImagePart[],
) {
  // The id is no part of what is judged.
  const plan = way.planMessage({ id: '', text, images, cliVersion });
  if (plan.kind === 'refused') return { reason: plan.reason, detail: plan.detail };
  return findMentionedFile(config, plan.mentionedPaths);
}
