import {
  findUserMessages,
  type ModelRequest,
  type ScriptedStep,
} from '@holdfast/provider-core/certification';
import { playCoder } from './play-coder.js';

/**
 * Plays a coding agent from a request's body alone: the steps that the last message names, one after each tool result, with
 * what only the body tells in the places that are left open for it. Without steps it is {@link playCoder} who decides.
 */
export function scriptCoder(request: ModelRequest): ScriptedStep | undefined {
  if (request.kind !== 'main') return undefined;
  const messages = findUserMessages(request);
  const last = messages.at(-1);
  if (!last) return undefined;
  const results = request.messages.slice(last.itemIndex).filter(({ role }) => role === 'tool');
  const places = readPlaces(last.text);
  const first = readSteps(last.text);
  if (!first) return playCoder({ ...request, ...places, message: last.text, results });
  const step = [first, ...(first.after ?? [])][results.length];
  if (!step) return { text: 'There is nothing left to do.' };
  const earlier = messages.slice(0, -1).map(({ text }) => text);
  const { after: _later, ...now } = step;
  return fill(now, { ...places, codeword: recall(earlier) });
}

/** What stands open in a step, for the one who plays the agent. */
export const OPEN = { work: '{{work}}', scratch: '{{scratch}}', codeword: '{{codeword}}' } as const;

const STEPS = /\[\[(\{.*\})\]\](?=\n|$)/;

function readSteps(text: string): ScriptedStep | undefined {
  const found = STEPS.exec(text)?.[1];
  return found === undefined ? undefined : JSON.parse(found);
}

/** A job's message says where its repository is, and where it may write besides. */
function readPlaces(text: string): { readonly work: string; readonly scratch: string } {
  const work = /repository of this job stands at (\S+), rebuilt/.exec(text)?.[1] ?? '';
  return { work, scratch: work.replace(/[^/]+$/, 'scratch') };
}

/** What the last of these messages told to be remembered. */
function recall(messages: readonly string[]): string {
  const told = messages.flatMap((text) => [...text.matchAll(/Remember the codeword (\w+)\./g)]);
  return told.at(-1)?.[1] ?? 'unknown to me';
}

function fill(step: ScriptedStep, values: Readonly<Record<keyof typeof OPEN, string>>) {
  const text = JSON.stringify(step).replaceAll(/\{\{(work|scratch|codeword)\}\}/g, (open, name) =>
    name in values ? JSON.stringify(values[name as keyof typeof OPEN]).slice(1, -1) : open,
  );
  const filled: ScriptedStep = JSON.parse(text);
  return filled;
}
