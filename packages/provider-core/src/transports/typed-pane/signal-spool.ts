import { stat } from 'node:fs/promises';
import type { PaneSignal, TypedPane } from '../../spec/typed-pane.js';
import { readJsonLines } from '../../state/json-lines.js';
import type { SessionContext } from '../session-transport.js';
import { spoolPath } from './session-files.js';

/** Reads what hooks wrote since the last look. */
export class SignalSpool {
  readonly #way: TypedPane;
  readonly #path: string;
  #offset: number;

  constructor(way: TypedPane, context: SessionContext, offset: number) {
    this.#way = way;
    this.#path = spoolPath(way, context);
    this.#offset = offset;
  }

  async readNew(): Promise<readonly PaneSignal[]> {
    const found = await readJsonLines(this.#path, { fromByte: this.#offset });
    if (found === 'absent') return [];
    this.#offset = found.endOffset;
    return found.lines.flatMap(({ value }) => this.#way.readSignal(value) ?? []);
  }
}

/** Length of the spool now; what comes later was written later. */
export async function findSpoolEnd(way: TypedPane, context: SessionContext): Promise<number> {
  try {
    return (await stat(spoolPath(way, context))).size;
  } catch {
    return 0;
  }
}
