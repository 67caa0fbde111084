import type { CodingProviderSessionHandle } from '@holdfast/provider-core';
import { findProcesses, killUntilGone } from '../../harness/processes.js';
import { alternate, type Contender, seriesOf } from '../alternate.js';
import { BenchPlace } from '../bench-place.js';
import type { BenchRow } from '../bench-row.js';
import { measureTurn } from '../measure-turn.js';
import { ClaudeChild } from '../probes/claude-child.js';
import { ClaudeSdkStream, measureQuery } from '../probes/claude-sdk.js';
import { measurePrint } from '../probes/one-shot.js';
import { nextTag, taggedMessage } from '../timing-model.js';
import { ownRows } from './own-rows.js';
import { planRows } from './structured-rows.js';
import { coldRounds, type Suite, type SuiteRequest } from './suite.js';

/** Claude Code without a terminal, warm: row 1. */
export const claudeStructuredWarm: Suite = {
  rows: ['1'],
  provider: 'claude-code',
  run: async (request) => {
    await using place = await BenchPlace.create(request.cli, request.program);
    const handle = await startStructured(place);
    const raw = place.use(await ClaudeChild.like(place, idOf(handle)));
    const sdk = place.use(new ClaudeSdkStream(place));
    const twice = (name: string, measure: Contender['measure']): readonly Contender[] => [
      { name, measure },
      { name: `${name} again`, measure },
    ];
    const series = await alternate(
      [
        { name: 'ours', measure: () => turnOfOurs(place, handle) },
        ...twice('raw', () => raw.turn()),
        ...twice('sdk', () => sdk.turn()),
      ],
      { rounds: request.rounds, warmups: 3, restMs: 150 },
    );
    return [
      ...planRows(request, series, [
        {
          row: '1a',
          what: 'answer event / assistant frame of a raw child with the same arguments',
          atMost: 1.05,
          ours: 'ours',
          probe: 'raw',
          moment: 'answer',
        },
        {
          row: '1b',
          what: "answer event / assistant message of the SDK's streaming input",
          atMost: 1.05,
          ours: 'ours',
          probe: 'sdk',
          moment: 'answer',
        },
        {
          row: '1c',
          what: 'durable result / result frame of the raw child, which waits for no record',
          ours: 'ours',
          probe: 'raw',
          moment: 'durable',
        },
      ]),
      ...ownRows(request.cli, seriesOf(series, 'ours'), '1'),
    ];
  },
};

/** Claude Code against calls that start a process each: rows 3 and 4. */
export const claudeOneCall: Suite = {
  rows: ['3', '4'],
  provider: 'claude-code',
  run: async (request) => {
    await using place = await BenchPlace.create(request.cli, request.program);
    const warm = await startStructured(place);
    const cold = await startStructured(place);
    const [printed, queried] = [crypto.randomUUID(), crypto.randomUUID()];
    for (const id of [printed, queried]) await measurePrint(place, ['--session-id', id]);
    const print = () => measurePrint(place, ['--resume', printed]);
    const call = () => measureQuery(place, queried);
    const series = await alternate(
      [
        { name: 'warm', measure: () => turnOfOurs(place, warm) },
        { name: 'cold', measure: () => coldTurn(place, cold) },
        { name: 'print', measure: print },
        { name: 'print again', measure: print },
        { name: 'query', measure: call },
        { name: 'query again', measure: call },
      ],
      { rounds: coldRounds(request.rounds), warmups: 1, restMs: 300 },
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
      what: 'warm, answer event / query() + resume, its result message',
      atMost: 0.03,
      ours: 'warm',
      probe: 'query',
      moment: 'answer',
      probeMoment: 'durable',
    },
    {
      row: '3b',
      what: 'warm, durable result / query() + resume, its result message',
      ours: 'warm',
      probe: 'query',
      moment: 'durable',
    },
    {
      row: '4a',
      what: 'no process left, answer event / text of claude -p --resume',
      atMost: 1.03,
      ours: 'cold',
      probe: 'print',
      moment: 'answer',
    },
    {
      row: '4b',
      what: 'no process left, durable result / end of claude -p --resume',
      ours: 'cold',
      probe: 'print',
      moment: 'durable',
    },
  ]);
}

/** A session of ours in a process that reads and writes JSON lines. */
export function startStructured(place: BenchPlace): Promise<CodingProviderSessionHandle> {
  return place.start(taggedMessage(nextTag()), place.place.stateDir, 'structured');
}

/** One turn of ours. */
export function turnOfOurs(place: BenchPlace, handle: CodingProviderSessionHandle) {
  return measureTurn(() => place.continue(handle, taggedMessage(nextTag())));
}

async function coldTurn(place: BenchPlace, handle: CodingProviderSessionHandle) {
  await endProcessOf(handle);
  const measured = await turnOfOurs(place, handle);
  if (measured['recovered'] !== 1) throw new Error('The session was not resumed.');
  return measured;
}

/** Ends the CLI of a session, and returns once it is gone. */
export async function endProcessOf(handle: CodingProviderSessionHandle): Promise<void> {
  const id = idOf(handle);
  await killUntilGone(() => findProcesses(({ command }) => command.includes(id)));
}

/** The session's own id. */
export function idOf({ nativeSessionId }: CodingProviderSessionHandle): string {
  if (nativeSessionId === undefined) throw new Error('The handle names no session.');
  return nativeSessionId;
}
