import { killSession } from '../../harness/kill-session.js';
import { alternate, type Contender, type Series, seriesOf } from '../alternate.js';
import { BenchPlace } from '../bench-place.js';
import type { BenchRow } from '../bench-row.js';
import { lengthenRollout } from '../histories.js';
import { CodexServer } from '../probes/codex-server.js';
import { idOf, startStructured, turnOfOurs } from './claude-structured.js';
import { growthRow } from './growth-row.js';
import { planRows } from './structured-rows.js';
import { historySizes, type Suite } from './suite.js';

/** Codex without a terminal, warm, at several lengths of history: row 11. */
export const codexHistory: Suite = {
  rows: ['11'],
  provider: 'codex-cli',
  run: async (request) => {
    await using place = await BenchPlace.create(request.cli, request.program);
    const rows: BenchRow[] = [];
    const own: Series[] = [];
    for (const turns of historySizes(request)) {
      request.report(`  a history of ${turns} turns`);
      const handle = await makeOurs(place, turns);
      // The first turn resumes; it is not counted.
      await turnOfOurs(place, handle);
      const { server, threadId } = await makeRaw(place, turns);
      const raw = (name: string): Contender => ({ name, measure: () => server.turn(threadId) });
      const series = await alternate(
        [{ name: 'ours', measure: () => turnOfOurs(place, handle) }, raw('raw'), raw('raw again')],
        { rounds: request.rounds, warmups: 2, restMs: 200 },
      );
      await server.stop();
      const against = { ours: 'ours', probe: 'raw' };
      rows.push(
        ...planRows(request, series, [
          {
            ...against,
            row: `11a-${turns}`,
            what: `${turns} turns: answer event / item/completed of a raw client`,
            moment: 'answer',
          },
          {
            ...against,
            row: `11b-${turns}`,
            what: `${turns} turns: durable result / turn/completed of a raw client`,
            moment: 'durable',
          },
        ]),
      );
      own.push(seriesOf(series, 'ours'));
    }
    return [...rows, ...growthRow(request, own, '11e')];
  },
};

async function makeOurs(place: BenchPlace, turns: number) {
  const handle = await startStructured(place);
  for (let turn = 0; turn < 2; turn++) await turnOfOurs(place, handle);
  const { stateDir } = place.place;
  const doomed = { stateDir, nativeSessionId: idOf(handle), tmuxSession: undefined };
  await killSession({ ...doomed, tmux: place.tmux() }, 'all_processes');
  const path = (await place.fixture.findRecords(place.cliHome)).get(idOf(handle));
  if (!path) throw new Error('The session has no rollout.');
  await lengthenRollout(path, turns);
  return handle;
}

/** An app-server that has resumed a thread with a history as long. */
async function makeRaw(place: BenchPlace, turns: number) {
  const maker = await CodexServer.start(place, `${place.place.root}/make${turns}.sock`);
  const { id, path } = await maker.startThread(place);
  for (let turn = 0; turn < 3; turn++) await maker.turn(id);
  await maker.stop();
  await lengthenRollout(path, turns);
  const server = await CodexServer.start(place, `${place.place.root}/raw${turns}.sock`);
  await server.resumeThread(place, id);
  await server.turn(id);
  return { server, threadId: id };
}
