import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { scripted } from '@holdfast/provider-core/certification';
import type { RealSubject } from '../harness/real-subject.js';
import type { FaultCell } from './fault-cell.js';

/** A message that carries what the model must do so that the kill's window comes. */
export interface FaultMessage {
  readonly text: string;
  /** What its tool appends to the ledger, if it has a tool. */
  readonly tag: string | undefined;
}

function ledgerPath(subject: RealSubject): string {
  return join(subject.place.root, 'ledger');
}

/** The tags of the tools that ran, in order. */
export async function readLedger(subject: RealSubject): Promise<readonly string[]> {
  const text = await readFile(ledgerPath(subject), 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
}

/** Writes the message for one kill. */
export function composeMessage(
  subject: RealSubject,
  cell: FaultCell,
  number: number,
): FaultMessage {
  const title = `Errand ${number} of this session`;
  if (cell.kind !== 'window') return withTool(subject, title, number, 0);
  switch (cell.window) {
    case 'mid_stream':
      return {
        text: scripted(`${title}.`, { text: 'one two three four', chunks: 4, chunkDelayMs: 40 }),
        tag: undefined,
      };
    case 'in_tool':
      return withTool(subject, title, number, 1.5);
    case 'after_tool_block':
    case 'at_request':
      return withTool(subject, title, number, 0.2);
    default:
      return { text: `${title}: say something.`, tag: undefined };
  }
}

function withTool(
  subject: RealSubject,
  title: string,
  number: number,
  seconds: number,
): FaultMessage {
  const tag = `errand-${number}`;
  const wait = seconds > 0 ? `; sleep ${seconds}` : '';
  const call = subject.shellCall(`echo ${tag} >> ${ledgerPath(subject)}${wait}`);
  const step = { tools: [call], after: [{ text: `${title} is done.` }] };
  return { text: scripted(`${title}.`, step), tag };
}
