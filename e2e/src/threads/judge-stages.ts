import { readFile } from 'node:fs/promises';
import { type ModelRequest, readUserMessages } from '@holdfast/provider-core/certification';
import { check, type StageCheck } from './check.js';
import { readPatched } from './git-bundle.js';
import { outsideOf, type StageJob, type StageJobs } from './run-stages.js';
import { CODEWORDS, FINDING_ID, SEEN } from './stage-script.js';
import type { Role, ThreadBench } from './thread-bench.js';

/** Judges what the jobs gave, what stands on disk, and what went over the wire. */
export async function judgeStages(
  bench: ThreadBench,
  jobs: StageJobs,
): Promise<readonly StageCheck[]> {
  return [
    ...judgeProcesses(jobs),
    ...judgeConversations(jobs),
    ...(await judgePatches(bench, jobs)),
    ...judgeWire(bench),
    ...(await judgeBounds(bench, jobs)),
    check('nothing of the CLIs runs on', await bench.findLeftovers(), []),
  ];
}

function judgeProcesses(jobs: StageJobs): readonly StageCheck[] {
  const all: readonly StageJob[] = Object.values(jobs);
  const pids = all.map(({ workerPid }) => workerPid);
  const services = all.map(({ servicePid }) => servicePid);
  const areOwn = !pids.includes(-1) && new Set(pids).size === all.length;
  return [
    check('each job had a worker process of its own', areOwn || pids, true),
    check('each service was another process', new Set(services).size, all.length),
  ];
}

function judgeConversations(jobs: StageJobs): readonly StageCheck[] {
  const { I1, R1, I2, R2, closeI, closeR, B1, closeB } = jobs;
  const nativeIds = [I1, R1, B1].map(nativeIdOf);
  const checkpoints = [I1, I2, R1, R2].map(({ end }) => end.thread?.checkpoint);
  const states = [closeI, closeR, closeB].map(({ end }) => end.thread?.state);
  const recalled = R2.end.review?.validationGaps.join() ?? '';
  return [
    check('the implementer goes on in its native session', nativeIdOf(I2), nativeIdOf(I1)),
    check('the reviewer goes on in its native session', nativeIdOf(R2), nativeIdOf(R1)),
    check('each conversation has a native session of its own', new Set(nativeIds).size, 3),
    check('each turn ends in a checkpoint of its own', new Set(checkpoints).size, 4),
    check('the implementer recalls', I2.end.finalMessage?.includes(CODEWORDS.implement), true),
    check('the reviewer recalls', recalled.includes(CODEWORDS.review), true),
    check('the review has its finding', R1.end.review?.findings[0]?.findingId, FINDING_ID),
    check('the finding is claimed', I2.end.artifact?.['resolvedFindingIds'], [FINDING_ID]),
    check('the second review accepts', R2.end.review?.verdict, 'approved'),
    check('it accepts the second patch', R2.end.review?.artifactDigest, digestOf(I2)),
    check('every close is proven', states, ['CLOSED', 'CLOSED', 'CLOSED']),
    check('the next stage recalls nothing', B1.end.finalMessage?.includes('unknown to me'), true),
  ];
}

async function judgePatches(
  { repository }: ThreadBench,
  { I1, I2, B1 }: StageJobs,
): Promise<readonly StageCheck[]> {
  const names = ['src/greeting.txt', 'src/kept.txt'];
  const made = await readPatched(repository.folder, I2.end.patch?.patch ?? '', names);
  return [
    check('the first patch has both files', I1.end.patch?.changedPaths, names),
    check('the second patch is cumulative', I2.end.patch?.changedPaths, names),
    check('what the first turn wrote survives', made['src/kept.txt'], 'kept\n'),
    check('the finding is resolved', made['src/greeting.txt'], 'Hello world\n'),
    check('the next stage begins at the base', B1.end.patch?.changedPaths, ['src/farewell.txt']),
  ];
}

function judgeWire(bench: ThreadBench): readonly StageCheck[] {
  const tellOther = (role: Role, other: Role) => {
    const requests = bench.requestsOf(role);
    const telling = requests.filter(({ bodyText }) => bodyText.includes(CODEWORDS[other]));
    return [requests.length > 0, telling.length];
  };
  const again = (role: Role) => {
    const request = lastOfSecondTurn(bench.requestsOf(role));
    const messages = request ? listSent(request) : [];
    return [messages.length, messages.at(-1)?.includes(CODEWORDS[role])];
  };
  return [
    check(
      'no request of the reviewer has the implementer’s codeword',
      tellOther('review', 'implement'),
      [true, 0],
    ),
    check(
      'no request of the implementer has the reviewer’s codeword',
      tellOther('implement', 'review'),
      [true, 0],
    ),
    check('what the implementer is sent again has no codeword', again('implement'), [2, false]),
    check('what the reviewer is sent again has no codeword', again('review'), [2, false]),
  ];
}

/** The first conversation of a role is the one with a second message. */
function lastOfSecondTurn(requests: readonly ModelRequest[]): ModelRequest | undefined {
  return requests.findLast((request) => request.kind === 'main' && listSent(request).length > 1);
}

/** The messages of the jobs alone: a CLI also reminds its model of the form of its answer. */
function listSent(request: ModelRequest): readonly string[] {
  return readUserMessages(request).filter((text) => text.startsWith('The repository of this job'));
}

async function judgeBounds(bench: ThreadBench, { R1 }: StageJobs): Promise<readonly StageCheck[]> {
  const outside = await readFile(outsideOf(bench), 'utf8').catch(() => 'absent');
  return [
    check('no file stands outside of what the implementer may write', outside, 'absent'),
    check('its CLI told it so', isRefused(bench, 'implement', 'outside.txt'), true),
    check(
      'the reviewer cannot write into the candidate',
      isRefused(bench, 'review', 'planted.txt'),
      true,
    ),
    check(
      'it sees no file of the implementer’s home, or says that it might',
      isBlind(bench, R1),
      true,
    ),
  ];
}

/** Whether the model was told that a command of its own could not write a file. */
function isRefused(bench: ThreadBench, role: Role, file: string): boolean {
  return resultsOf(bench, role).some(
    (text) => text.includes(file) && /read-only|permission denied|not permitted/i.test(text),
  );
}

/** Whether the reviewer's commands found nothing in the other home; a CLI that hides nothing must have said so. */
function isBlind(bench: ThreadBench, { end }: StageJob): boolean {
  const counts = resultsOf(bench, 'review').flatMap(
    (text) => text.match(new RegExp(`${SEEN} (\\d+)`))?.[1] ?? [],
  );
  if (end.evidence['enforcement'] === 'namespace')
    return counts.length > 0 && counts.every((count) => count === '0');
  return JSON.stringify(end.evidence['unenforced']).includes('may read every file');
}

function resultsOf(bench: ThreadBench, role: Role): readonly string[] {
  return bench
    .requestsOf(role)
    .flatMap(({ messages }) => messages.filter((item) => item.role === 'tool'))
    .flatMap(({ texts }) => texts);
}

function nativeIdOf({ end }: StageJob): unknown {
  return end.evidence['nativeId'];
}

function digestOf({ end }: StageJob): string | undefined {
  return end.patch?.patchDigest;
}
