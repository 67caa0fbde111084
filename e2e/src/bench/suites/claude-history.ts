import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import { alternate, type Contender, type Series, seriesOf } from '../alternate.js';
import { BenchPlace } from '../bench-place.js';
import type { BenchRow } from '../bench-row.js';
import { copyTranscript, lengthenTranscript } from '../histories.js';
import { ClaudeChild } from '../probes/claude-child.js';
import { endProcessOf, idOf, startStructured, turnOfOurs } from './claude-structured.js';
import { growthRow } from './growth-row.js';
import { planRows } from './structured-rows.js';
import { historySizes, type Suite } from './suite.js';

/** Claude Code without a terminal, warm, at several lengths of history: row 11, and 10e's like. */
export const claudeHistory: Suite = {
  rows: ['11'],
  provider: 'claude-code',
  run: async (request) => {
    await using place = await BenchPlace.create(request.cli, request.program);
    const rows: BenchRow[] = [];
    const own: Series[] = [];
    for (const turns of historySizes(request)) {
      request.report(`  a history of ${turns} turns`);
      const { handle, bareId } = await makeSessions(place, turns);
      // The first turn resumes; it is not counted.
      await turnOfOurs(place, handle);
      await using child = await ClaudeChild.like(place, idOf(handle), bareId);
      const raw = (name: string): Contender => ({ name, measure: () => child.turn() });
      const series = await alternate(
        [{ name: 'ours', measure: () => turnOfOurs(place, handle) }, raw('raw'), raw('raw again')],
        { rounds: request.rounds, warmups: 2, restMs: 200 },
      );
      await endProcessOf(handle);
      const against = { ours: 'ours', probe: 'raw' };
      rows.push(
        ...planRows(request, series, [
          {
            ...against,
            row: `11a-${turns}`,
            what: `${turns} turns: answer event / assistant frame of a raw child`,
            moment: 'answer',
          },
          {
            ...against,
            row: `11b-${turns}`,
            what: `${turns} turns: durable result / result frame of a raw child`,
            moment: 'durable',
          },
        ]),
      );
      own.push(seriesOf(series, 'ours'));
    }
    return [...rows, ...growthRow(request, own, '11e')];
  },
};

/** A session of ours with a long history, and a copy of it that the raw child resumes. */
async function makeSessions(place: BenchPlace, turns: number) {
  const handle = await startStructured(place);
  for (let turn = 0; turn < 2; turn++) await turnOfOurs(place, handle);
  await endProcessOf(handle);
  const id = idOf(handle);
  const path = (await place.fixture.findRecords(place.cliHome)).get(id);
  if (!path) throw new Error('The session has no transcript.');
  await lengthenTranscript(path, turns);
  const bareId = randomUUID();
  await copyTranscript(path, join(dirname(path), `${bareId}.jsonl`), [id, bareId]);
  return { handle, bareId };
}
