import {
  type ScriptedStep,
  type ScriptedToolCall,
  scripted,
} from '@holdfast/provider-core/certification';
import type { CodingEnd } from './coding-command.js';
import { OPEN } from './script-coder.js';

/** What each role is told once, and never again. */
export const CODEWORDS = { implement: 'heron', review: 'marble' } as const;

/** Names the finding that the reviewer has. */
export const FINDING_ID = 'greeting-1';

/** How the CLI of a role calls its shell. */
export type ShellCall = (command: string) => ScriptedToolCall;

/** The first task: two files, one with a mistake in it, and an attempt to write where nothing may be written. */
export function implementFirst(shell: ShellCall, outside: string): string {
  const write = "printf 'Helo world\\n' > src/greeting.txt && printf 'kept\\n' > src/kept.txt";
  const task = `Remember the codeword ${CODEWORDS.implement}. Write a greeting into src/greeting.txt.`;
  return withSteps(task, [
    { tools: [shell(write)] },
    { tools: [shell(`echo outside > '${outside}'`)] },
    { text: 'I wrote the greeting.' },
  ]);
}

/** Counts the files of a home, as far as a command may see them. */
export const SEEN = 'files of the other role:';

/** The first review: it finds the mistake, tries to write into the candidate, and looks for the home of the other role. */
export function reviewFirst(shell: ShellCall, candidate: CodingEnd, otherHome: string): string {
  const task = `Remember the codeword ${CODEWORDS.review}. Review the candidate.`;
  const finding = {
    findingId: FINDING_ID,
    severity: 'medium',
    repository: 'example/greetings',
    location: 'src/greeting.txt',
    summary: 'The greeting is misspelt.',
    evidence: 'It says Helo.',
    requiredResolution: 'Write Hello.',
  };
  const review = { ...reviewOf(candidate, 'review-1'), verdict: 'changes-required' };
  return withSteps(task, [
    { tools: [shell(`cat '${OPEN.work}/src/greeting.txt'`)] },
    { tools: [shell(`echo planted > '${OPEN.work}/planted.txt'`)] },
    { tools: [shell(`echo ${SEEN} $(find '${otherHome}' -type f | wc -l)`)] },
    { text: JSON.stringify({ ...review, findings: [finding], validationGaps: [] }) },
  ]);
}

/** What is to be mended; the answer says what only the conversation knows. */
export function implementAgain(shell: ShellCall): string {
  return withSteps('What is the codeword? Resolve the findings.', [
    { tools: [shell('cat src/kept.txt src/greeting.txt')] },
    { tools: [shell("printf 'Hello world\\n' > src/greeting.txt")] },
    {
      text: `The codeword is ${OPEN.codeword}.\n${JSON.stringify({ resolvedFindingIds: [FINDING_ID] })}`,
    },
  ]);
}

/** The second review accepts; where it may say something of its own, it says what only its conversation knows. */
export function reviewAgain(shell: ShellCall, candidate: CodingEnd): string {
  const review = { ...reviewOf(candidate, 'review-2'), verdict: 'approved', findings: [] };
  return withSteps('What is the codeword? Review the candidate again.', [
    { tools: [shell(`cat '${OPEN.work}/src/greeting.txt'`)] },
    { text: JSON.stringify({ ...review, validationGaps: [`The codeword is ${OPEN.codeword}.`] }) },
  ]);
}

/** The next stage's first task, in a conversation that was told nothing. */
export function implementNextStage(shell: ShellCall): string {
  return withSteps('What is the codeword? Write a farewell into src/farewell.txt.', [
    { tools: [shell("printf 'Goodbye world\\n' > src/farewell.txt")] },
    { text: `The codeword is ${OPEN.codeword}.` },
  ]);
}

function reviewOf({ patch }: CodingEnd, reviewId: string) {
  return { schemaVersion: 1, reviewId, artifactDigest: patch?.patchDigest };
}

function withSteps(task: string, [first = {}, ...after]: readonly ScriptedStep[]): string {
  return scripted(task, { ...first, after });
}
