import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { CodingProviderSessionHandle } from '@holdfast/provider-core';
import { findProcesses, killUntilGone } from '../../harness/processes.js';
import { alternate, type Contender, type Series, seriesOf } from '../alternate.js';
import { BenchPlace } from '../bench-place.js';
import { type BenchRow, compare, momentsOf } from '../bench-row.js';
import { copyTranscript, lengthenTranscript } from '../histories.js';
import { measureTurn } from '../measure-turn.js';
import { ControlClient } from '../probes/control-client.js';
import { HookReceiver } from '../probes/hook-receiver.js';
import { recoverBySleeping, recoverInRawPty } from '../probes/raw-recovery.js';
import { nextTag, taggedMessage } from '../timing-model.js';
import { growthRow } from './growth-row.js';
import { coldRounds, historySizes, type Suite, type SuiteRequest } from './suite.js';

/** Claude Code after its tmux server was killed, at several lengths of history: row 8, and 10e. */
export const claudeRecovery: Suite = {
  rows: ['8', '10e'],
  provider: 'claude-code',
  run: async (request) => {
    await using place = await BenchPlace.create(request.cli, request.program);
    const receiver = place.use(await HookReceiver.listen());
    const client = place.use(await ControlClient.attach(`${place.place.root}/probe.sock`));
    const rows: BenchRow[] = [];
    const own: Series[] = [];
    for (const turns of historySizes(request)) {
      request.report(`  a history of ${turns} turns`);
      const sessions = await makeSessions(place, turns);
      const slow = turns === 10 ? ['sleep', 'sleep again'] : [];
      const series = await alternate(
        [
          { name: 'ours', measure: () => recoverOurs(place, sessions.handle) },
          raw('raw', place, receiver, sessions.bareId),
          raw('raw again', place, receiver, sessions.bareId),
          ...slow.map((name) => ({
            name,
            measure: () =>
              afterEnd(sessions.bareId, () =>
                recoverBySleeping(place, { client, receiver }, sessions.bareId),
              ),
          })),
        ],
        { rounds: coldRounds(request.rounds), warmups: 1, restMs: 300 },
      );
      rows.push(...recoveryRows(request, turns, series));
      own.push(await measureWarm(place, sessions.handle, request.rounds));
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
  const answers = (name: string) => momentsOf(seriesOf(series, name), 'answer');
  const bare = compare(
    {
      ...head,
      row: `8a-${turns}`,
      what: `tmux lost, ${turns} turns: answer / bare --resume in a raw pty, fed the same way`,
      target: { of: 'ratio', atMost: 1.08 },
    },
    { ours: answers('ours'), probe: answers('raw'), again: answers('raw again') },
  );
  if (!series.has('sleep')) return [bare];
  const sleeping = compare(
    {
      ...head,
      row: `8b-${turns}`,
      what: `tmux lost, ${turns} turns: answer / a script that sleeps 3 s`,
      target: { of: 'ratio', atMost: 0.3 },
    },
    { ours: answers('ours'), probe: answers('sleep'), again: answers('sleep again') },
  );
  return [bare, sleeping];
}

/** A session of ours with a long history, and a copy of it that a bare CLI resumes. */
async function makeSessions(place: BenchPlace, turns: number) {
  const handle = await place.start(taggedMessage(nextTag()));
  for (let turn = 0; turn < 2; turn++) await place.continue(handle, taggedMessage(nextTag()));
  await loseTmux(place, handle);
  const id = idOf(handle);
  const path = (await place.fixture.findRecords(place.cliHome)).get(id);
  if (!path) throw new Error('The session has no transcript.');
  await lengthenTranscript(path, turns);
  const bareId = randomUUID();
  await copyTranscript(path, join(dirname(path), `${bareId}.jsonl`), [id, bareId]);
  return { handle, bareId };
}

async function recoverOurs(place: BenchPlace, handle: CodingProviderSessionHandle) {
  await loseTmux(place, handle);
  const measured = await measureTurn(() => place.continue(handle, taggedMessage(nextTag())));
  if (measured['recovered'] !== 1) throw new Error('The session was not resumed.');
  return measured;
}

async function loseTmux(place: BenchPlace, handle: CodingProviderSessionHandle): Promise<void> {
  await place.tmux().killServer();
  await endCli(idOf(handle));
}

function raw(name: string, place: BenchPlace, receiver: HookReceiver, id: string): Contender {
  return { name, measure: () => afterEnd(id, () => recoverInRawPty(place, receiver, id)) };
}

/** Nobody may hold the session when it is resumed. */
async function afterEnd<Value>(sessionId: string, recover: () => Promise<Value>): Promise<Value> {
  await endCli(sessionId);
  return recover();
}

async function endCli(sessionId: string): Promise<void> {
  await killUntilGone(() => findProcesses(({ command }) => command.includes(sessionId)));
}

async function measureWarm(
  place: BenchPlace,
  handle: CodingProviderSessionHandle,
  rounds: number,
): Promise<Series> {
  const measure = () => measureTurn(() => place.continue(handle, taggedMessage(nextTag())));
  const series = await alternate([{ name: 'ours', measure }], { rounds, warmups: 1, restMs: 200 });
  return seriesOf(series, 'ours');
}

function idOf({ nativeSessionId }: CodingProviderSessionHandle): string {
  if (nativeSessionId === undefined) throw new Error('The handle names no session.');
  return nativeSessionId;
}
