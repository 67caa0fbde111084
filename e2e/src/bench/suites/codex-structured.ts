import { alternate, type Contender, seriesOf } from '../alternate.js';
import { BenchPlace } from '../bench-place.js';
import type { BenchRow } from '../bench-row.js';
import { CodexServer } from '../probes/codex-server.js';
import { CodexSdkThread, measureExec } from '../probes/one-shot.js';
import { nextTag, taggedMessage } from '../timing-model.js';
import { startStructured, turnOfOurs } from './claude-structured.js';
import { ownRows } from './own-rows.js';
import { planRows } from './structured-rows.js';
import { coldRounds, type Suite, type SuiteRequest } from './suite.js';

/** Codex without a terminal, warm: row 2. */
export const codexStructuredWarm: Suite = {
  rows: ['2'],
  provider: 'codex-cli',
  run: async (request) => {
    await using place = await BenchPlace.create(request.cli, request.program);
    const handle = await startStructured(place);
    const server = await CodexServer.start(place, `${place.place.root}/raw.sock`);
    const thread = await server.startThread(place);
    const raw = (name: string): Contender => ({ name, measure: () => server.turn(thread.id) });
    const series = await alternate(
      [{ name: 'ours', measure: () => turnOfOurs(place, handle) }, raw('raw'), raw('raw again')],
      { rounds: request.rounds, warmups: 3, restMs: 150 },
    );
    await server.stop();
    const against = { ours: 'ours', probe: 'raw' };
    return [
      ...planRows(request, series, [
        {
          ...against,
          row: '2a',
          what: 'answer event / item/completed of a raw app-server client',
          atMost: 1.03,
          moment: 'answer',
        },
        {
          ...against,
          row: '2b',
          what: 'durable result / turn/completed of a raw app-server client',
          atMost: 1.03,
          moment: 'durable',
        },
      ]),
      ...ownRows(request.cli, seriesOf(series, 'ours'), '2'),
    ];
  },
};

/** Codex against calls that start a process each: rows 3 and 4. */
export const codexOneCall: Suite = {
  rows: ['3', '4'],
  provider: 'codex-cli',
  run: async (request) => {
    await using place = await BenchPlace.create(request.cli, request.program);
    const warm = await startStructured(place);
    const cold = await place.start(taggedMessage(nextTag()), place.place.stateDir, 'per_turn');
    const thread = new CodexSdkThread(place);
    await thread.turn();
    const server = await CodexServer.start(place, `${place.place.root}/raw.sock`);
    const bare = await server.startThread(place);
    await server.turn(bare.id);
    await server.stop();
    const exec = () => measureExec(place, bare.id);
    const series = await alternate(
      [
        { name: 'warm', measure: () => turnOfOurs(place, warm) },
        { name: 'cold', measure: () => turnOfOurs(place, cold) },
        { name: 'run', measure: () => thread.turn() },
        { name: 'run again', measure: () => thread.turn() },
        { name: 'exec', measure: exec },
        { name: 'exec again', measure: exec },
      ],
      { rounds: coldRounds(request.rounds), warmups: 1, restMs: 200 },
    );
    return oneCallRows(request, series);
  },
};

function oneCallRows(
  request: SuiteRequest,
  series: Awaited<ReturnType<typeof alternate>>,
): readonly BenchRow[] {
  return planRows(request, series, [
    {
      row: '3a',
      what: 'warm, answer event / Thread.run()',
      atMost: 0.15,
      ours: 'warm',
      probe: 'run',
      moment: 'answer',
    },
    {
      row: '3b',
      what: 'warm, durable result / Thread.run()',
      ours: 'warm',
      probe: 'run',
      moment: 'durable',
    },
    {
      row: '4c',
      what: 'one process a turn, durable result / Thread.run()',
      atMost: 0.95,
      ours: 'cold',
      probe: 'run',
      moment: 'durable',
    },
    {
      row: '4d',
      what: 'one process a turn, answer event / item of codex exec resume',
      atMost: 1.02,
      ours: 'cold',
      probe: 'exec',
      moment: 'answer',
    },
    {
      row: '4e',
      what: 'one process a turn, durable result / end of codex exec resume',
      ours: 'cold',
      probe: 'exec',
      moment: 'durable',
    },
  ]);
}
