import type { StreamMessage, StreamMessagePlan, StreamWriter } from '../../spec/stream-process.js';
import { readMentionedPaths } from './delivery.js';
import { permissionModes } from './permission-modes.js';
import { isNewerThan } from './version.js';

/** What the model's API takes as an image. */
const IMAGE_TYPES: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
]);
/** The last version that sends a blank message to the model. */
const LAST_TO_SEND_BLANKS = '2.1.197';

/** The line that puts a message in. Every text goes exactly but those the CLI itself acts on. */
export function planMessage({ id, text, images, cliVersion }: StreamMessage): StreamMessagePlan {
  const refusal = findTextRefusal(text, cliVersion, images.length > 0);
  if (refusal) return { kind: 'refused', ...refusal };
  const other = images.find(({ mediaType }) => !IMAGE_TYPES.has(mediaType));
  if (other) {
    const detail = `${other.mediaType} is no kind of image that the model takes.`;
    return { kind: 'refused', reason: 'image_type', detail };
  }
  const blocks = [
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...images.map(({ mediaType, data }) => ({
      type: 'image',
      source: { type: 'base64', media_type: mediaType, data },
    })),
  ];
  const line = JSON.stringify({
    type: 'user',
    uuid: id,
    message: { role: 'user', content: images.length === 0 ? text : blocks },
    parent_tool_use_id: null,
  });
  return { kind: 'line', line, mentionedPaths: readMentionedPaths(text) };
}

/** Each was seen to be acted upon, or not to reach the model as it was. */
function findTextRefusal(text: string, cliVersion: string, hasImages: boolean) {
  if (/^\/[A-Za-z0-9:_-]+(?=\s|$)/.test(text)) {
    const detail = 'a leading "/word" is run as a command of the CLI.';
    return { reason: 'slash_command', detail };
  }
  if (Buffer.from(text).toString() !== text) {
    return { reason: 'malformed_unicode', detail: 'it holds half a surrogate pair.' };
  }
  if (/(^|\s)@(agent-|"|[^\s:@]+:[^\s])/.test(text)) {
    const detail = '"@agent-…", a quoted path and "@server:…" bring in what they name.';
    return { reason: 'resource_mention', detail };
  }
  const isSilent = text.trim() === '' && !hasImages;
  if (isSilent && (text === '' || isNewerThan(cliVersion, LAST_TO_SEND_BLANKS))) {
    return { reason: 'empty', detail: 'it is empty or blank, and would not reach the model.' };
  }
  return undefined;
}

/** The requests that the CLI answers while a turn runs, too. */
export const streamWriter: StreamWriter = {
  interrupt: (requestId) => request(requestId, { subtype: 'interrupt' }),
  takeBack: (requestId, messageId) =>
    request(requestId, { subtype: 'cancel_async_message', message_uuid: messageId }),
  setPermissions: (requestId, permissions) =>
    request(requestId, { subtype: 'set_permission_mode', mode: permissionModes[permissions] }),
  askCost: (requestId) => request(requestId, { subtype: 'get_session_cost' }),
};

function request(requestId: string, content: object): string {
  return JSON.stringify({ type: 'control_request', request_id: requestId, request: content });
}
