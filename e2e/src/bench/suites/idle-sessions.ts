import { setTimeout as sleep } from 'node:timers/promises';
import { findProcessesOf, type SeenProcess } from '../../harness/processes.js';
import { BenchPlace } from '../bench-place.js';
import { type BenchRow, bound } from '../bench-row.js';
import { cpuMilliseconds, heapMegabytes, privateMegabytes } from '../process-memory.js';
import { nextTag, taggedMessage } from '../timing-model.js';
import type { Suite, SuiteRequest } from './suite.js';

const WATCHED_MS = 20_000;

/** Rows 10c and 10d: what idle sessions cost us, and what one more Codex session costs the machine. */
export const codexIdle: Suite = {
  rows: ['10c', '10d'],
  provider: 'codex-cli',
  run: async (request) => {
    await using place = await BenchPlace.create(request.cli, request.program);
    const count = request.isQuick ? 4 : 32;
    await place.start(taggedMessage(nextTag()));
    const first = await weigh(place);
    for (let number = 1; number < count; number++) await place.start(taggedMessage(nextTag()));
    const all = await weigh(place);
    const cpu = await watchIdle(place);
    return idleRows(request, { first, all, cpu, count });
  },
};

interface Weight {
  readonly heap: number;
  readonly watchdogs: number;
  readonly servers: number;
  readonly panes: number;
}

async function weigh(place: BenchPlace): Promise<Weight> {
  // What a turn leaves behind for a moment is no cost of an idle session.
  await sleep(2_000);
  const found = await findProcessesOf(place.place.root);
  const sum = async (kind: Kind) => {
    const chosen = found.filter((process) => kindOf(process) === kind);
    const sizes = await Promise.all(chosen.map(({ pid }) => privateMegabytes(pid)));
    return sizes.reduce((total, size) => total + size, 0);
  };
  return {
    heap: heapMegabytes(),
    watchdogs: await sum('watchdog'),
    servers: await sum('server'),
    panes: await sum('pane'),
  };
}

type Kind = 'server' | 'pane' | 'watchdog' | 'other';

function kindOf({ command }: SeenProcess): Kind {
  if (/^\S*codex app-server/.test(command)) return 'server';
  if (/^\S*codex resume/.test(command)) return 'pane';
  return /^(\/bin\/)?sh |^sleep /.test(command) ? 'watchdog' : 'other';
}

/** The share of one core that this process and its watchdogs use while nobody asks anything of them. */
async function watchIdle(place: BenchPlace): Promise<number> {
  const watchdogs = (await findProcessesOf(place.place.root)).filter(
    (process) => kindOf(process) === 'watchdog',
  );
  const readWatchdogs = async () => {
    const used = await Promise.all(watchdogs.map(({ pid }) => cpuMilliseconds(pid)));
    return used.reduce((total, each) => total + each, 0);
  };
  const before = await readWatchdogs();
  const own = process.cpuUsage();
  await sleep(WATCHED_MS);
  const { user, system } = process.cpuUsage(own);
  const used = (user + system) / 1_000 + (await readWatchdogs()) - before;
  return (used / WATCHED_MS) * 100;
}

interface IdleFigures {
  readonly first: Weight;
  readonly all: Weight;
  readonly cpu: number;
  readonly count: number;
}

function idleRows({ cli }: SuiteRequest, { first, all, cpu, count }: IdleFigures): BenchRow[] {
  const head = { provider: cli.provider, cliVersion: cli.version };
  const each = (total: number) => total / (count - 1);
  const ours = each(all.heap + all.watchdogs - first.heap - first.watchdogs);
  const server = each(all.servers - first.servers);
  const pane = each(all.panes - first.panes);
  const most = (atMost: number) => ({ of: 'ours', atMost }) as const;
  return [
    bound(
      {
        ...head,
        row: '10c-cpu',
        what: `${count} idle sessions: our share of a core`,
        unit: '%',
        target: most(0.1),
      },
      cpu,
      1,
    ),
    bound(
      {
        ...head,
        row: '10c-memory',
        what: 'our memory for one more idle session',
        unit: 'MB',
        target: most(0.2),
      },
      ours,
      count,
    ),
    bound(
      {
        ...head,
        row: '10d-server',
        what: 'one more session in the app-server',
        unit: 'MB',
        target: most(2),
      },
      server,
      count,
    ),
    bound(
      {
        ...head,
        row: '10d-pane',
        what: 'one more session with its pane',
        unit: 'MB',
        target: most(25),
      },
      server + pane,
      count,
    ),
  ];
}
