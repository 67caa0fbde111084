import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';

/** One whole answer of the Messages protocol, streamed in one write. */
export function answerAnthropic(response: ServerResponse, body: Buffer, text: string): void {
  const model = /"model":"([^"]+)"/.exec(body.subarray(0, 200).toString('latin1'))?.[1] ?? 'model';
  const message = { id: `msg_${randomUUID()}`, type: 'message', role: 'assistant', model };
  if (!body.includes('"stream":true')) {
    const whole = {
      ...message,
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(whole));
    return;
  }
  const usage = { input_tokens: 10, output_tokens: 1 };
  sendEvents(response, [
    ['message_start', { message: { ...message, content: [], stop_reason: null, usage } }],
    ['content_block_start', { index: 0, content_block: { type: 'text', text: '' } }],
    ['content_block_delta', { index: 0, delta: { type: 'text_delta', text } }],
    ['content_block_stop', { index: 0 }],
    ['message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } }],
    ['message_stop', {}],
  ]);
}

/** One whole answer of the Responses protocol, streamed in one write. */
export function answerOpenAi(response: ServerResponse, text: string): void {
  const id = `resp_${randomUUID()}`;
  const item = {
    id: `msg_${randomUUID()}`,
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [] }],
  };
  const usage = {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 15,
  };
  const open = { id, object: 'response', status: 'in_progress', output: [] };
  const place = { item_id: item.id, output_index: 0, content_index: 0 };
  sendEvents(response, [
    ['response.created', { response: open }],
    [
      'response.output_item.added',
      { output_index: 0, item: { ...item, status: 'in_progress', content: [] } },
    ],
    ['response.output_text.delta', { ...place, delta: text }],
    ['response.output_item.done', { output_index: 0, item }],
    ['response.completed', { response: { ...open, status: 'completed', output: [item], usage } }],
  ]);
}

function sendEvents(
  response: ServerResponse,
  events: readonly (readonly [name: string, fields: object])[],
): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const lines = events.map(([type, fields], sequence_number) => {
    const data = JSON.stringify({ type, sequence_number, ...fields });
    return `event: ${type}\ndata: ${data}\n\n`;
  });
  response.end(lines.join(''));
}
