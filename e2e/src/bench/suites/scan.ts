import { rm } from 'node:fs/promises';
import {
  type Builder,
  type BuilderOptions,
  createBuilder,
  defineWorkflow,
} from '@holdfast/builder';
import { alternate, type Contender, seriesOf } from '../alternate.js';
import { type BenchRow, compare, momentsOf, type RowHead } from '../bench-row.js';
import { readEach, walkPlainly } from '../probes/plain-reads.js';
import { createScanPlace, OPEN_STEPS, type ScanPlace, type ScanSize } from '../scan/scan-place.js';
import { coldRounds, type Suite } from './suite.js';

const OPEN = 200;
const REST_MS = 300;

/** Start-up beside many finished steps, against reading what is open, and the first walk against a plain one. */
export const scan: Suite = {
  rows: ['scan'],
  run: async ({ rounds, isQuick, wants, report }) => {
    const size = { finished: isQuick ? 5_000 : 100_000, open: OPEN };
    report(`  writing ${size.finished} finished steps`);
    await using place = await createScanPlace(size);
    const rows: BenchRow[] = [];
    // The walk first: a data directory of which every file was read once is walked beside the work.
    if (wants('scan-b')) rows.push(await measureWalk(place, size, coldRounds(rounds)));
    if (wants('scan-a')) rows.push(await measureStart(place, size, rounds));
    return rows.sort((one, other) => one.row.localeCompare(other.row));
  },
};

async function measureStart(place: ScanPlace, size: ScanSize, rounds: number): Promise<BenchRow> {
  await startBuilder(place, size);
  return await against(
    {
      row: 'scan-a',
      what: `start beside ${size.finished} finished steps / read the ${OPEN} open ones`,
      atMost: 3,
    },
    () => startBuilder(place, size),
    () => expectOpen(readEach(place.openFiles), 2 * OPEN),
    rounds,
  );
}

async function measureWalk(place: ScanPlace, size: ScanSize, rounds: number): Promise<BenchRow> {
  return await against(
    {
      row: 'scan-b',
      what: `first start, walking ${size.finished} finished steps / readdir, read, parse`,
      atMost: 2,
    },
    async () => {
      await rm(place.walkedFile, { force: true });
      return await startBuilder(place, size);
    },
    () => expectOpen(walkPlainly(place.dataDir), OPEN),
    rounds,
  );
}

interface ScanHead {
  readonly row: string;
  readonly what: string;
  readonly atMost: number;
}

async function against(
  { row, what, atMost }: ScanHead,
  ours: () => Promise<number>,
  probe: () => void,
  rounds: number,
): Promise<BenchRow> {
  const plain = async () => {
    const start = performance.now();
    probe();
    return { ms: performance.now() - start };
  };
  const contenders: readonly Contender[] = [
    { name: 'ours', measure: async () => ({ ms: await ours() }) },
    { name: 'probe', measure: plain },
    { name: 'again', measure: plain },
  ];
  const series = await alternate(contenders, { rounds, warmups: 1, restMs: REST_MS });
  const head: RowHead = {
    row,
    what,
    provider: '-',
    cliVersion: '-',
    target: { of: 'ratio', atMost },
  };
  return compare(head, {
    ours: momentsOf(seriesOf(series, 'ours'), 'ms'),
    probe: momentsOf(seriesOf(series, 'probe'), 'ms'),
    again: momentsOf(seriesOf(series, 'again'), 'ms'),
  });
}

const workflow = defineWorkflow({
  id: 'report',
  steps: Array.from({ length: OPEN_STEPS }, (_, number) => ({
    ...{ id: `open-${number}`, agent: 'writer', prompt: 'Write the draft of the report.' },
  })),
});

/** How long a builder takes to be there, every open step being reported; none begins, since each waits for an instant. */
async function startBuilder({ dataDir }: ScanPlace, { finished }: ScanSize): Promise<number> {
  // Never made: no step of theirs begins.
  const agents = { writer: {} } as unknown as BuilderOptions['agents'];
  const start = performance.now();
  const builder = await createBuilder({ dataDir, agents, workflows: [workflow] });
  const ms = performance.now() - start;
  checkReport(builder, finished);
  await builder.close();
  return ms;
}

function checkReport({ recovery: { executions, walk, jobs } }: Builder, finished: number): void {
  expectOpen(executions.left.filter(({ reason }) => reason === 'not_before').length, OPEN);
  expectOpen(jobs.left.length, OPEN);
  if (walk) expectOpen(walk.visited, finished + OPEN);
}

function expectOpen(found: number, expected: number): void {
  if (found !== expected) throw new Error(`${found} were found, not ${expected}.`);
}
