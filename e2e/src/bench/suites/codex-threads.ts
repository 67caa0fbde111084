import type { CodingProviderSessionHandle } from '@holdfast/provider-core';
import { findProcessesOf } from '../../harness/processes.js';
import { alternate, type Contender, type Series, seriesOf } from '../alternate.js';
import { BenchPlace } from '../bench-place.js';
import { type BenchRow, bound, compare, momentsOf } from '../bench-row.js';
import { CodexServer } from '../probes/codex-server.js';
import { privateMegabytes } from '../process-memory.js';
import { nextTag, taggedMessage } from '../timing-model.js';
import { startStructured, turnOfOurs } from './claude-structured.js';
import { coldRounds, type Suite, type SuiteRequest } from './suite.js';

/** Many Codex sessions without a terminal on one app-server: row 12. */
export const codexThreads: Suite = {
  rows: ['12'],
  provider: 'codex-cli',
  run: async (request) => {
    const count = request.isQuick ? 4 : 32;
    await using alone = await BenchPlace.create(request.cli, request.program);
    const single = await startStructured(alone);
    await using place = await BenchPlace.create(request.cli, request.program);
    const handles = [await startStructured(place)];
    const first = await weighServers(place);
    while (handles.length < count) handles.push(await startStructured(place));
    const all = await weighServers(place);
    const server = await CodexServer.start(place, `${place.place.root}/raw.sock`);
    const threads: string[] = [];
    while (threads.length < count) threads.push((await server.startThread(place)).id);
    const raw = () => Promise.all(threads.map((id) => server.turn(id)));
    const [shown = single] = handles;
    const series = await alternate(
      [
        { name: 'among', measure: () => turnOfOurs(place, shown) },
        { name: 'alone', measure: () => turnOfOurs(alone, single) },
        { name: 'alone again', measure: () => turnOfOurs(alone, single) },
      ],
      { rounds: request.rounds, warmups: 2, restMs: 150 },
    );
    const atOnce = await alternate(
      [
        together('ours', () => Promise.all(handles.map((handle) => say(place, handle)))),
        together('raw', raw),
        together('raw again', raw),
      ],
      { rounds: coldRounds(request.rounds), warmups: 1, restMs: 300 },
    );
    await server.stop();
    const perThread = (all.memory - first.memory) / (count - 1);
    return threadRows(request, { count, servers: all.count, perThread, series, atOnce });
  },
};

async function weighServers(place: BenchPlace) {
  const found = await findProcessesOf(place.place.root);
  const servers = found.filter(({ command }) => /^\S*codex app-server/.test(command));
  const sizes = await Promise.all(servers.map(({ pid }) => privateMegabytes(pid)));
  return { count: servers.length, memory: sizes.reduce((total, size) => total + size, 0) };
}

async function say(place: BenchPlace, handle: CodingProviderSessionHandle): Promise<void> {
  await place.continue(handle, taggedMessage(nextTag()));
}

/** A turn in every session at the same time, until the last one is over. */
function together(name: string, run: () => Promise<unknown>): Contender {
  return {
    name,
    measure: async () => {
      const start = performance.now();
      await run();
      return { durable: performance.now() - start };
    },
  };
}

interface ThreadFigures {
  readonly count: number;
  readonly servers: number;
  readonly perThread: number;
  readonly series: ReadonlyMap<string, Series>;
  readonly atOnce: ReadonlyMap<string, Series>;
}

function threadRows({ cli }: SuiteRequest, figures: ThreadFigures): readonly BenchRow[] {
  const { count, servers, perThread, series, atOnce } = figures;
  const head = { provider: cli.provider, cliVersion: cli.version };
  const pair = (from: ReadonlyMap<string, Series>, ours: string, probe: string) => ({
    ours: momentsOf(seriesOf(from, ours), 'durable'),
    probe: momentsOf(seriesOf(from, probe), 'durable'),
    again: momentsOf(seriesOf(from, `${probe} again`), 'durable'),
  });
  return [
    bound(
      {
        ...head,
        row: '12a',
        what: `one more of ${count} sessions in the app-server`,
        unit: 'MB',
        target: { of: 'ours', atMost: 2 },
        note: `${servers} server${servers === 1 ? '' : 's'}`,
      },
      perThread,
      count,
    ),
    compare(
      { ...head, row: '12b', what: `a turn with ${count} sessions open / with one` },
      pair(series, 'among', 'alone'),
    ),
    compare(
      {
        ...head,
        row: '12c',
        what: `${count} turns at once / the same by one raw app-server client`,
      },
      pair(atOnce, 'ours', 'raw'),
    ),
  ];
}
