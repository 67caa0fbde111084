import { appendFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { anthropicMessages } from './anthropic-messages.js';
import { gemini } from './gemini.js';
import { isJsonRecord, readJson, readString } from './json-value.js';
import type { ModelProtocolForm } from './model-protocol.js';
import type { ModelRequest, ReceivedRequest } from './model-request.js';
import { openaiChat } from './openai-chat.js';
import { openaiResponses } from './openai-responses.js';

const forms = [anthropicMessages, openaiResponses, openaiChat, gemini];

/** The protocol that a path belongs to. */
export function findProtocolForm(path: string): ModelProtocolForm | undefined {
  return forms.find((form) => form.isPath(path));
}

/** Adds one request to the log file, written before the answer begins so that it outlives whatever is killed next. */
export function appendToModelLog(file: string, { id, at, path, bodyText }: ReceivedRequest): void {
  appendFileSync(file, `${JSON.stringify({ id, at, path, body_text: bodyText })}\n`);
}

/** The requests in a log file, oldest first, also those of earlier servers; a half-written last line is left out. */
export async function readModelLog(file: string): Promise<readonly ModelRequest[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').slice(0, -1);
  return lines.flatMap((line) => {
    const received = readReceived(readJson(line));
    return (received && findProtocolForm(received.path)?.readRequest(received)) ?? [];
  });
}

function readReceived(value: unknown): ReceivedRequest | undefined {
  if (!isJsonRecord(value)) return undefined;
  const [id, at] = [readString(value['id']), readString(value['at'])];
  const [path, bodyText] = [readString(value['path']), readString(value['body_text'])];
  if (id === undefined || at === undefined) return undefined;
  return path === undefined || bodyText === undefined ? undefined : { id, at, path, bodyText };
}
