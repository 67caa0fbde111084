import { randomUUID } from 'node:crypto';
import { type ScriptedStep, scripted } from '@holdfast/provider-core/certification';
import type { CliUnderTest } from '../harness/cli-under-test.js';
import { getProviderFixture } from '../harness/providers/index.js';
import { findChanges, listHome } from '../tmux-loss/home-listing.js';
import { check, type StageCheck } from './check.js';
import { type Conversation, composeInput } from './compose-input.js';
import { readPatched } from './git-bundle.js';
import { OPEN } from './script-coder.js';
import { ThreadBench } from './thread-bench.js';

/** A run on a person's own CLI and a private copy of their login. */
export interface LiveThread {
  readonly cli: CliUnderTest;
  /** The person's home folder, and what their CLI's own variable says of its home. */
  readonly person: { readonly home: string; readonly cliHome: string | undefined };
  /** Asked with everything that will be done, before anything is; only `true` goes on. */
  readonly confirm: (notice: string) => Promise<boolean>;
  /** A scripted model in place of the vendor's, for the self-test. */
  readonly isScripted: boolean;
}

const CODEWORD = 'heron';
const TELL = `Remember the codeword ${CODEWORD}. Write it into no file. Create first.txt with the one line "one". Answer with OK alone.`;
const ASK =
  'Create second.txt with the one line "two". Then answer with the codeword that you were told, and that word alone.';

/** Two turns and a close in three worker processes, on a copy of the login; the original is compared afterwards. */
export async function runLiveThread(live: LiveThread): Promise<readonly StageCheck[]> {
  const { cli, person, confirm, isScripted } = live;
  const fixture = getProviderFixture(cli.provider);
  const login = fixture.findLogin(person);
  if (!(await confirm(composeNotice(cli, login.files)))) {
    return [check('it was allowed', 'nothing was sent', 'yes')];
  }
  const before = await listHome(login.watched);
  const checks = await runTurns(live, {
    pair: { implement: cli, review: cli },
    login: (_, cliHome, place) => fixture.copyLogin(login, cliHome, place),
    isScripted,
  });
  const changed = findChanges(before, await listHome(login.watched));
  return [...checks, check('the original home is as it was', changed, [])];
}

async function runTurns(
  { cli, isScripted }: LiveThread,
  options: Parameters<typeof ThreadBench.create>[0],
): Promise<readonly StageCheck[]> {
  await using bench = await ThreadBench.create(options);
  const { repository } = bench;
  const { shellCall } = getProviderFixture(cli.provider);
  const say = (task: string, command: string, text: string) => {
    const step: ScriptedStep = { tools: [shellCall(command)], after: [{ text }] };
    return isScripted ? scripted(task, step) : task;
  };
  const conversation: Conversation = {
    ...{ role: 'implement', stageId: 'stage-A', sessionRef: randomUUID() },
  };
  const run = (operationId: string, text: string, checkpoint?: string) =>
    bench.run(
      operationId,
      composeInput({
        ...{ repository, operationId, text, isClose: operationId === 'close' },
        conversation: { ...conversation, checkpoint },
      }),
    );
  const first = await run('first', say(TELL, 'echo one > first.txt', 'OK'));
  const asked = say(ASK, 'echo two > second.txt', OPEN.codeword);
  const second = await run('second', asked, first.end.thread?.checkpoint);
  const closed = await run('close', 'Close.', second.end.thread?.checkpoint);

  const names = ['first.txt', 'second.txt'];
  const made = await readPatched(repository.folder, second.end.patch?.patch ?? '', names);
  const pids = new Set([first, second, closed].map(({ workerPid }) => workerPid));
  const nativeIds = [first, second].map(({ end }) => end.evidence['nativeId']);
  return [
    check('the codeword stands in nothing that was sent again', asked.includes(CODEWORD), false),
    check('it is recalled', second.end.finalMessage?.toLowerCase().includes(CODEWORD), true),
    check('in the same native session', nativeIds[1], nativeIds[0]),
    check('each job had a process of its own', pids.size, 3),
    check('the first patch survives', made['first.txt']?.trim(), 'one'),
    check('the second turn adds to it', made['second.txt']?.trim(), 'two'),
    check('the thread is closed', closed.end.thread?.state, 'CLOSED'),
    check('nothing of the CLI runs on', await bench.findLeftovers(), []),
  ];
}

function composeNotice(cli: CliUnderTest, files: readonly string[]): string {
  return [
    `This runs your own ${cli.provider} (${cli.binary}) with a private copy of your login.`,
    'It has two short coding turns done in a temporary repository, on your account, and may cost you a few tokens.',
    `It copies ${files.join(' and ')} into a temporary folder that only you can read, and removes that folder in`,
    'the end. Your own files are read and never written; a listing with hashes is compared afterwards. If the CLI',
    'renews its login while it runs, the renewed login is in the copy, and you may have to sign in again.',
  ].join('\n');
}
