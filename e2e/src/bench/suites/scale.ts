import { inspectCodingAgentSession } from '@holdfast/provider-core';
import { alternate, seriesOf } from '../alternate.js';
import { BenchPlace } from '../bench-place.js';
import { type BenchRow, compare, momentsOf } from '../bench-row.js';
import { measureTurn } from '../measure-turn.js';
import { nextTag, taggedMessage } from '../timing-model.js';
import type { Suite, SuiteRequest } from './suite.js';

const SESSIONS = 200;

/** Rows 10a and 10b: a send and a look with 200 sessions on our tmux server against one. */
export const claudeScale: Suite = {
  rows: ['10a', '10b'],
  provider: 'claude-code',
  run: async (request) => {
    await using place = await BenchPlace.create(request.cli, request.program);
    const crowded = `${place.place.root}/crowded`;
    const alone = await place.start(taggedMessage(nextTag()));
    const among = await place.start(taggedMessage(nextTag()), crowded);
    const door = place.tmux(crowded);
    for (let number = 1; number < SESSIONS; number++) {
      await door.run('new-session', '-d', '-s', `crowd${number}`, 'cat');
    }
    const turn = (name: string, handle: typeof alone, stateDir: string) => ({
      name,
      measure: () => measureTurn(() => place.continue(handle, taggedMessage(nextTag()), stateDir)),
    });
    const look = (name: string, handle: typeof alone, stateDir: string) => ({
      name,
      measure: async () => {
        const start = performance.now();
        await inspectCodingAgentSession(handle, { stateDir });
        return { ms: performance.now() - start };
      },
    });
    const { stateDir } = place.place;
    const series = await alternate(
      [
        turn('among', among, crowded),
        turn('alone', alone, stateDir),
        turn('alone again', alone, stateDir),
        look('look among', among, crowded),
        look('look alone', alone, stateDir),
        look('look alone again', alone, stateDir),
      ],
      { rounds: request.rounds, warmups: 2, restMs: 150 },
    );
    return scaleRows(request, series);
  },
};

function scaleRows(
  { cli }: SuiteRequest,
  series: Awaited<ReturnType<typeof alternate>>,
): BenchRow[] {
  const head = { provider: cli.provider, cliVersion: cli.version };
  const moments = (name: string, moment: string) => momentsOf(seriesOf(series, name), moment);
  return [
    compare(
      {
        ...head,
        row: '10a',
        what: `call until the message was taken in, ${SESSIONS} tmux sessions / one`,
        target: { of: 'ratio', atMost: 1.2 },
      },
      {
        ours: moments('among', 'submitted'),
        probe: moments('alone', 'submitted'),
        again: moments('alone again', 'submitted'),
      },
    ),
    compare(
      {
        ...head,
        row: '10b',
        what: `inspecting a session, ${SESSIONS} tmux sessions / one`,
        target: { of: 'ours', atMost: 2 },
      },
      {
        ours: moments('look among', 'ms'),
        probe: moments('look alone', 'ms'),
        again: moments('look alone again', 'ms'),
      },
    ),
  ];
}
