import type { ThreadRow } from './keep-threads.js';

const WIDTHS = { job: 7, role: 10, stage: 8, mode: 7, workerPid: 9, nativeId: 15, checkpoint: 15 };

/** The head of the table of a demo's jobs. */
export function writeHead(): string {
  return writeLine({
    ...{ job: 'job', role: 'role', stage: 'stage', mode: 'mode', workerPid: 'process' },
    ...{ nativeId: 'native session', checkpoint: 'checkpoint', end: 'end' },
  });
}

/** One job's line. Ids are told by their ends, which differ. */
export function writeRow(row: ThreadRow): string {
  const { nativeId, checkpoint, state, outcome, patchDigest } = row;
  const patch = patchDigest === '' ? '' : `, patch ${patchDigest.slice('sha256:'.length, 17)}`;
  return writeLine({
    ...row,
    ...{ nativeId: tail(nativeId), checkpoint: tail(checkpoint) },
    end: `${outcome}, ${state}${patch}`,
  });
}

type Cells = Readonly<Record<keyof typeof WIDTHS, string | number>> & { readonly end: string };

function writeLine({ end, ...cells }: Cells): string {
  const found: Readonly<Record<string, unknown>> = cells;
  const padded = Object.entries(WIDTHS).map(([name, width]) => String(found[name]).padEnd(width));
  return `  ${padded.join('')}${end}`;
}

function tail(id: string): string {
  return id === '' ? '' : `…${id.slice(-12)}`;
}
