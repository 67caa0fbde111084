import { alternate, type Contender, seriesOf } from '../alternate.js';
import { BenchPlace } from '../bench-place.js';
import { type BenchRow, compare, momentsOf } from '../bench-row.js';
import { measureTurn } from '../measure-turn.js';
import { measureAgentApiTurn } from '../probes/agentapi-timing.js';
import { ClaudePane, measureHookTurn, measureTailTurn } from '../probes/claude-pane.js';
import { ControlClient } from '../probes/control-client.js';
import { HookReceiver } from '../probes/hook-receiver.js';
import { nextTag, taggedMessage } from '../timing-model.js';
import { ownRows } from './own-rows.js';
import type { Suite, SuiteRequest } from './suite.js';

/** Warm turns of Claude Code in tmux: rows 5 and 6, and what a turn of ours writes. */
export const claudeWarm: Suite = {
  rows: ['5', '6a', '6b'],
  provider: 'claude-code',
  run: async (request) => {
    await using place = await BenchPlace.create(request.cli, request.program);
    const handle = await place.start(taggedMessage(nextTag()));
    const gateOf = await place.findFilesDir(handle);
    const receiver = place.use(await HookReceiver.listen());
    const client = place.use(await ControlClient.attach(`${place.place.root}/probe.sock`));
    const open = async (hooks: Parameters<typeof ClaudePane.open>[2]) => {
      const pane = await ClaudePane.open(client, place, hooks);
      await pane.awaitComposer();
      return pane;
    };
    const gated = await open({ stopUrl: receiver.url, gateOf });
    const plain = await open({ stopUrl: receiver.url });
    const bare = await open({});
    const turn = (name: string, pane: ClaudePane): Contender => ({
      name,
      measure: () => measureHookTurn(pane, receiver),
    });
    const tail = (name: string): Contender => ({ name, measure: () => measureTailTurn(bare) });
    const series = await alternate(
      [
        {
          name: 'ours',
          measure: () => measureTurn(() => place.continue(handle, taggedMessage(nextTag()))),
        },
        turn('gated', gated),
        turn('gated again', gated),
        turn('plain', plain),
        turn('plain again', plain),
        tail('tail'),
        tail('tail again'),
      ],
      { rounds: request.rounds, warmups: 3, restMs: 300 },
    );
    const slow = request.wants('6b') ? await measureAgentApi(request, place, bare, handle) : [];
    return [...warmRows(request, series), ...slow];
  },
};

type WarmSeries = Awaited<ReturnType<typeof alternate>>;

function warmRows({ cli }: SuiteRequest, series: WarmSeries): BenchRow[] {
  const head = { provider: cli.provider, cliVersion: cli.version };
  const moments = (name: string, moment: string) => momentsOf(seriesOf(series, name), moment);
  const against = (
    part: { readonly row: string; readonly what: string; readonly atMost?: number },
    moment: 'answer' | 'durable',
    [ours, probe, again]: readonly [string, string, string],
  ) =>
    compare(
      {
        ...head,
        row: part.row,
        what: part.what,
        ...(part.atMost === undefined ? {} : { target: { of: 'ratio', atMost: part.atMost } }),
      },
      { ours: moments(ours, moment), probe: moments(probe, moment), again: moments(again, moment) },
    );
  return [
    against(
      { row: '5a', what: 'answer event / paste, Enter, http Stop hook, same gate', atMost: 1.1 },
      'answer',
      ['ours', 'gated', 'gated again'],
    ),
    against(
      { row: '5b', what: 'durable result / the same and its transcript record', atMost: 1.05 },
      'durable',
      ['ours', 'gated', 'gated again'],
    ),
    against(
      { row: '5c', what: 'price of the gate and barrier hooks: probe with / without them' },
      'answer',
      ['gated', 'plain', 'plain again'],
    ),
    ...ownRows(cli, seriesOf(series, 'ours')),
    against({ row: '6a', what: 'answer event / transcript tailing', atMost: 0.45 }, 'answer', [
      'ours',
      'tail',
      'tail again',
    ]),
  ];
}

async function measureAgentApi(
  { cli, rounds }: SuiteRequest,
  place: BenchPlace,
  pane: ClaudePane,
  handle: Parameters<BenchPlace['continue']>[0],
): Promise<BenchRow[]> {
  const agentApi = (name: string): Contender => ({
    name,
    measure: () => measureAgentApiTurn(pane),
  });
  const ours = () => measureTurn(() => place.continue(handle, taggedMessage(nextTag())));
  const series = await alternate(
    [{ name: 'ours', measure: ours }, agentApi('agentapi'), agentApi('agentapi again')],
    { rounds: Math.max(3, Math.ceil(rounds / 6)), warmups: 0, restMs: 300 },
  );
  const answers = (name: string) => momentsOf(seriesOf(series, name), 'answer');
  return [
    compare(
      {
        row: '6b',
        provider: cli.provider,
        cliVersion: cli.version,
        what: "answer event / agentapi's timing",
        target: { of: 'ratio', atMost: 0.02 },
      },
      { ours: answers('ours'), probe: answers('agentapi'), again: answers('agentapi again') },
    ),
  ];
}
