import type { CliUnderTest } from '../../harness/cli-under-test.js';
import { alternate, type Contender, type Series, seriesOf } from '../alternate.js';
import { BenchPlace } from '../bench-place.js';
import { type BenchRow, compare, momentsOf } from '../bench-row.js';
import { measureTurn } from '../measure-turn.js';
import { CodexPane } from '../probes/codex-pane.js';
import { CodexServer } from '../probes/codex-server.js';
import { ControlClient } from '../probes/control-client.js';
import { nextTag, taggedMessage } from '../timing-model.js';
import { ownRows } from './own-rows.js';
import type { Suite } from './suite.js';

/** Warm turns of Codex in tmux: row 6, and what the app-server itself needs. */
export const codexWarm: Suite = {
  rows: ['5', '6c', '6d', '6e'],
  provider: 'codex-cli',
  run: async ({ cli, program, rounds }) => {
    await using place = await BenchPlace.create(cli, program);
    const { root } = place.place;
    const client = place.use(await ControlClient.attach(`${root}/probe.sock`));
    const shown = await makeThread(place, `${root}/first.sock`);
    const pane = await CodexPane.resume(client, place, shown);
    await pane.awaitComposer();
    const server = await CodexServer.start(place, `${root}/second.sock`);
    const thread = await server.startThread(place);
    const handle = await place.start(taggedMessage(nextTag()));

    const polled = (name: string): Contender => ({
      name,
      measure: () => pane.turn({ pollMs: 50 }),
    });
    const raw = (name: string): Contender => ({ name, measure: () => server.turn(thread.id) });
    const series = await alternate(
      [
        {
          name: 'ours',
          measure: () => measureTurn(() => place.continue(handle, taggedMessage(nextTag()))),
        },
        polled('polled'),
        polled('polled again'),
        raw('raw'),
        raw('raw again'),
      ],
      { rounds, warmups: 3, restMs: 200 },
    );
    await server.stop();
    return [...ownRows(cli, seriesOf(series, 'ours')), ...warmRows(cli, series)];
  },
};

function warmRows(
  { provider, version }: CliUnderTest,
  series: ReadonlyMap<string, Series>,
): BenchRow[] {
  const head = { provider, cliVersion: version };
  const against = (probe: string, moment: 'answer' | 'durable') => ({
    ours: momentsOf(seriesOf(series, 'ours'), moment),
    probe: momentsOf(seriesOf(series, probe), moment),
    again: momentsOf(seriesOf(series, `${probe} again`), moment),
  });
  return [
    compare(
      {
        ...head,
        row: '6c',
        what: 'answer event / paste, Enter, rollout polled every 50 ms',
        target: { of: 'ratio', atMost: 0.6 },
      },
      against('polled', 'answer'),
    ),
    compare(
      { ...head, row: '6d', what: 'answer event / item/completed of a raw app-server client' },
      against('raw', 'answer'),
    ),
    compare(
      { ...head, row: '6e', what: 'durable result / turn/completed of a raw app-server client' },
      against('raw', 'durable'),
    ),
  ];
}

/** A thread with one turn, which nobody holds any more. */
async function makeThread(place: BenchPlace, socketPath: string) {
  const server = await CodexServer.start(place, socketPath);
  const { id, path } = await server.startThread(place);
  await server.turn(id);
  await server.stop();
  return { threadId: id, rollout: path };
}
