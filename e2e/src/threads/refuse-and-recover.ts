import { randomUUID } from 'node:crypto';
import { scripted } from '@holdfast/provider-core/certification';
import type { CliUnderTest } from '../harness/cli-under-test.js';
import { getProviderFixture } from '../harness/providers/index.js';
import { waitFor } from '../harness/wait-for.js';
import { check, kindOf, type StageCheck } from './check.js';
import type { CodingEnd } from './coding-command.js';
import { type Conversation, composeInput } from './compose-input.js';
import { implementNextStage } from './stage-script.js';
import { ThreadBench } from './thread-bench.js';

/**
 * One conversation of one CLI: what is said again is answered from the record, what is stale, foreign or doubled is refused,
 * and none of it costs a turn. Then its service and its worker are killed in a turn, which nobody runs again.
 */
export async function refuseAndRecover(cli: CliUnderTest): Promise<readonly StageCheck[]> {
  await using bench = await ThreadBench.create({ pair: { implement: cli, review: cli } });
  const begun = await beginConversation(bench, cli);
  return [
    ...(await judgeRefusals(bench, begun)),
    ...(await judgeKill(bench, begun)),
    check('nothing of the CLI runs on', await bench.findLeftovers(), []),
  ];
}

interface Begun {
  readonly conversation: Conversation;
  readonly text: string;
  readonly end: CodingEnd;
}

async function beginConversation(bench: ThreadBench, cli: CliUnderTest): Promise<Begun> {
  const { shellCall } = getProviderFixture(cli.provider);
  const sessionRef = randomUUID();
  const conversation = { role: 'implement', sessionRef, stageId: 'stage-A' } as const;
  const text = implementNextStage(shellCall);
  const { end } = await bench.run('first', inputOf(bench, { conversation, text }));
  const { checkpoint } = end.thread ?? {};
  return { conversation: { ...conversation, checkpoint }, text, end };
}

async function judgeRefusals(bench: ThreadBench, begun: Begun): Promise<readonly StageCheck[]> {
  const { conversation, text, end } = begun;
  const { checkpoint: _none, ...fresh } = conversation;
  const service = await bench.restartService();
  const asked = bench.requestsOf('implement').length;
  const { owner } = bench;
  const run = (jobId: string, input: object, by = owner) =>
    service.ask({ call: 'run', jobId, input: { ...input }, owner: by });
  const stale = { ...conversation, checkpoint: randomUUID() };
  const stranger = { ...owner, processId: randomUUID() };
  const other = inputOf(bench, { conversation: fresh, text: 'Another task.', operationId: 'op-2' });
  const resume = inputOf(bench, { conversation, text: 'Go on.', operationId: 'op-3' });
  const checks = [
    check(
      'the same operation gives the same outcome',
      await run('again', inputOf(bench, { conversation: fresh, text })),
      end,
    ),
    check('a second new is refused', await kindOf(run('doubled', other)), 'thread_exists'),
    check(
      'a stale checkpoint is refused',
      await kindOf(
        run('stale', inputOf(bench, { conversation: stale, text: 'Go on.', operationId: 'op-4' })),
      ),
      'thread_stale_checkpoint',
    ),
    check(
      'another owner has no such thread',
      await kindOf(run('foreign', resume, stranger)),
      'thread_unavailable',
    ),
    check('none of them asked the model', bench.requestsOf('implement').length, asked),
  ];
  await service.kill();
  return checks;
}

async function judgeKill(
  bench: ThreadBench,
  { conversation }: Begun,
): Promise<readonly StageCheck[]> {
  const { sessionRef } = conversation;
  const { owner } = bench;
  const isAsked = () =>
    bench.requestsOf('implement').filter(({ bodyText }) => bodyText.includes('Take your time.'));
  const text = scripted('Take your time.', { hang: true });
  const input = inputOf(bench, { conversation, text, operationId: 'op-hangs' });
  const first = await bench.restartService();
  const lost = first.ask({ call: 'run', jobId: 'hangs', input, owner }).catch(() => 'lost');
  await waitFor('the turn that hangs', () => isAsked().length > 0);
  await first.kill();
  await lost;
  const asked = isAsked().length;

  const second = await bench.restartService();
  const end = await kindOf(second.ask({ call: 'find', jobId: 'hangs' }));
  const view = (await second.ask({ call: 'inspect', sessionRef, owner })) as { state?: string };
  const retry = inputOf(bench, { conversation, text: 'Go on.', operationId: 'op-retry' });
  const refused = await kindOf(second.ask({ call: 'run', jobId: 'retry', input: retry, owner }));
  return [
    check('the job of a killed service is not believed to have ended', end, 'execution_unknown'),
    check('its thread is not ready', view.state !== 'READY' && view.state !== undefined, true),
    check(
      'it takes no further turn',
      ['thread_uncertain', 'thread_failed'].includes(refused),
      true,
    ),
    check('the turn was not run again', isAsked().length, asked),
  ];
}

function inputOf(
  { repository }: ThreadBench,
  job: {
    readonly conversation: Conversation;
    readonly text: string;
    readonly operationId?: string;
  },
) {
  return composeInput({ repository, operationId: 'op-1', ...job });
}
