import type { CodingProviderSessionHandle } from '@holdfast/provider-core';
import { killSession } from '../../harness/kill-session.js';
import { alternate, type Contender, type Series, seriesOf } from '../alternate.js';
import { BenchPlace } from '../bench-place.js';
import { type BenchRow, compare, momentsOf } from '../bench-row.js';
import { lengthenRollout } from '../histories.js';
import { measureTurn } from '../measure-turn.js';
import { CodexPane } from '../probes/codex-pane.js';
import { CodexServer } from '../probes/codex-server.js';
import { ControlClient } from '../probes/control-client.js';
import { nextTag, taggedMessage } from '../timing-model.js';
import { growthRow } from './growth-row.js';
import { coldRounds, historySizes, type Suite, type SuiteRequest } from './suite.js';

/** Codex after its pane, and after its app-server too, was killed: row 9, and 10e. */
export const codexRecovery: Suite = {
  rows: ['9', '10e'],
  provider: 'codex-cli',
  run: async (request) => {
    await using place = await BenchPlace.create(request.cli, request.program);
    const client = place.use(await ControlClient.attach(`${place.place.root}/probe.sock`));
    const rows: BenchRow[] = [];
    const own: Series[] = [];
    for (const turns of historySizes(request)) {
      request.report(`  a history of ${turns} turns`);
      const handle = await makeOurs(place, turns);
      const shown = await makeBare(place, turns);
      const served = await makeBare(place, turns);
      const series = await alternate(
        [
          { name: 'warm', measure: () => turnOfOurs(place, handle) },
          { name: 'warm again', measure: () => turnOfOurs(place, handle) },
          { name: 'tmux lost', measure: () => afterLoss(place, handle, 'tmux_server') },
          { name: 'warm between', measure: () => turnOfOurs(place, handle) },
          { name: 'server lost', measure: () => afterLoss(place, handle, 'all_processes') },
          ...['pane', 'pane again'].map((name) => resumeInPane(name, place, client, shown)),
          ...['server', 'server again'].map((name) => resumeInServer(name, place, served)),
        ],
        { rounds: coldRounds(request.rounds), warmups: 1, restMs: 200 },
      );
      rows.push(...recoveryRows(request, turns, series));
      own.push(seriesOf(series, 'warm'));
    }
    return [...rows, ...growthRow(request, own)];
  },
};

function recoveryRows(
  { cli }: SuiteRequest,
  turns: number,
  series: ReadonlyMap<string, Series>,
): BenchRow[] {
  const head = { provider: cli.provider, cliVersion: cli.version };
  const row = (
    {
      part,
      what,
      atMost,
    }: { readonly part: string; readonly what: string; readonly atMost: number },
    [ours, probe, again]: readonly [string, string, string],
  ) =>
    compare(
      {
        ...head,
        row: `9${part}-${turns}`,
        what: `${turns} turns: ${what}`,
        target: { of: 'ratio', atMost },
      },
      {
        ours: momentsOf(seriesOf(series, ours), 'durable'),
        probe: momentsOf(seriesOf(series, probe), 'durable'),
        again: momentsOf(seriesOf(series, again), 'durable'),
      },
    );
  return [
    row({ part: 'a', what: 'result after tmux was lost / its own warm turn', atMost: 1.5 }, [
      'tmux lost',
      'warm',
      'warm again',
    ]),
    row(
      { part: 'b', what: 'result after tmux was lost / codex resume in a new pane', atMost: 0.12 },
      ['tmux lost', 'pane', 'pane again'],
    ),
    row(
      {
        part: 'c',
        what: 'result after the app-server was lost too / spawn, thread/resume, turn/start',
        atMost: 1.05,
      },
      ['server lost', 'server', 'server again'],
    ),
  ];
}

type BareThread = Awaited<ReturnType<typeof makeBare>>;

async function makeOurs(place: BenchPlace, turns: number): Promise<CodingProviderSessionHandle> {
  const handle = await place.start(taggedMessage(nextTag()));
  for (let turn = 0; turn < 2; turn++) await turnOfOurs(place, handle);
  await lose(place, handle, 'all_processes');
  const path = (await place.fixture.findRecords(place.cliHome)).get(handle.nativeSessionId ?? '');
  if (!path) throw new Error('The session has no rollout.');
  await lengthenRollout(path, turns);
  return handle;
}

/** A thread with a long history that nobody holds. */
async function makeBare(place: BenchPlace, turns: number) {
  const server = await CodexServer.start(place, freshSocket(place));
  const { id, path } = await server.startThread(place);
  for (let turn = 0; turn < 3; turn++) await server.turn(id);
  await server.stop();
  await lengthenRollout(path, turns);
  return { threadId: id, rollout: path };
}

function turnOfOurs(place: BenchPlace, handle: CodingProviderSessionHandle) {
  return measureTurn(() => place.continue(handle, taggedMessage(nextTag())));
}

async function afterLoss(
  place: BenchPlace,
  handle: CodingProviderSessionHandle,
  depth: 'tmux_server' | 'all_processes',
) {
  await lose(place, handle, depth);
  const measured = await turnOfOurs(place, handle);
  if (measured['recovered'] !== 1) throw new Error('The session was not resumed.');
  return measured;
}

async function lose(
  place: BenchPlace,
  { nativeSessionId = '', tmuxSession }: CodingProviderSessionHandle,
  depth: 'tmux_server' | 'all_processes',
): Promise<void> {
  const { stateDir } = place.place;
  await killSession({ stateDir, nativeSessionId, tmuxSession, tmux: place.tmux() }, depth);
}

function resumeInPane(
  name: string,
  place: BenchPlace,
  client: ControlClient,
  thread: BareThread,
): Contender {
  return {
    name,
    measure: async () => {
      const start = performance.now();
      const pane = await CodexPane.resume(client, place, thread);
      await pane.awaitComposer();
      const measured = await pane.turn({ start });
      await pane.close();
      return measured;
    },
  };
}

function resumeInServer(name: string, place: BenchPlace, { threadId }: BareThread): Contender {
  return {
    name,
    measure: async () => {
      const start = performance.now();
      const server = await CodexServer.start(place, freshSocket(place));
      await server.resumeThread(place, threadId);
      const measured = await server.turn(threadId, start);
      await server.stop();
      return measured;
    },
  };
}

let sockets = 0;

function freshSocket({ place }: BenchPlace): string {
  sockets += 1;
  return `${place.root}/${sockets}.sock`;
}
