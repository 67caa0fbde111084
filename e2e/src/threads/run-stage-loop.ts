import { check, type StageCheck } from './check.js';
import { REQUIREMENTS } from './compose-input.js';
import { readPatched } from './git-bundle.js';
import { type Pair, runnerIdOf, ThreadBench } from './thread-bench.js';

/** What a stage came to, as far as it is looked at here. */
interface StageEnd {
  readonly outcome: string;
  readonly remediations: number;
  readonly replacements: number;
  readonly patch: { readonly patch: string; readonly changedPaths: readonly string[] };
  readonly patchDigest: string;
  readonly review?: { readonly verdict: string; readonly artifactDigest: string };
  readonly threads: readonly { readonly role: string; readonly state: string }[];
}

/** A stage that the builder drives by itself: an implementer errs, a reviewer finds it, it is mended and accepted. */
export async function runStageLoop(pair: Pair): Promise<readonly StageCheck[]> {
  await using bench = await ThreadBench.create({ pair });
  const service = await bench.restartService();
  const request = {
    call: 'stage',
    key: 'stage-A',
    stage: stageOf(bench),
    owner: bench.owner,
  } as const;
  const end = (await service.ask(request)) as StageEnd;
  const asked = countRequests(bench);
  const next = await bench.restartService();
  const again = await next.ask(request);
  const file = 'src/greeting.txt';
  const made = await readPatched(bench.repository.folder, end.patch.patch, [file]);
  return [
    check('the stage is accepted', end.outcome, 'accepted'),
    check('after one remediation', [end.remediations, end.replacements], [1, 0]),
    check('what was approved is what is given', end.review?.artifactDigest, end.patchDigest),
    check('the mistake is mended', made[file], 'Hello world\n'),
    check(
      'both conversations are closed',
      end.threads.map(({ state }) => state),
      ['CLOSED', 'CLOSED'],
    ),
    check('another service gives the same outcome', again, end),
    check('and asks nobody', countRequests(bench), asked),
    check('nothing of the CLIs runs on', await bench.findLeftovers(), []),
  ];
}

function stageOf({ repository }: ThreadBench) {
  return {
    stageId: 'stage-A',
    repository: repository.repository,
    baseRevision: repository.baseRevision,
    repositoryName: 'example/greetings',
    workspaceRoot: '/workspace/repo',
    prompt: 'Write a greeting into src/greeting.txt.',
    requirements: REQUIREMENTS,
    implementer: { runnerId: runnerIdOf('implement') },
    reviewer: { runnerId: runnerIdOf('review') },
  };
}

function countRequests(bench: ThreadBench): number {
  return bench.requestsOf('implement').length + bench.requestsOf('review').length;
}
