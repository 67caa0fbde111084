import type { ModelProtocol } from '@holdfast/provider-core/certification';
import {
  type ConversationItem,
  type ScriptedStep,
  type ScriptedToolCall,
  shellToolCall,
} from '@holdfast/provider-core/certification';

/** What an agent sees of its turn. */
export interface CoderTurn {
  readonly protocol: ModelProtocol;
  /** The message of the turn. */
  readonly message: string;
  /** Where the repository is. */
  readonly work: string;
  /** What its tools gave in this turn. */
  readonly results: readonly ConversationItem[];
}

/** The word that is wrong at first. */
const MISSPELT = 'Helo';

/**
 * Plays an agent that nobody scripted: an implementer who misspells its greeting and mends it when told so, and a reviewer
 * who reads the candidate and finds that.
 */
export function playCoder(turn: CoderTurn): ScriptedStep | undefined {
  if (turn.message.includes('Answer with one JSON object')) return playReviewer(turn);
  if (turn.message.includes('resolvedFindingIds')) {
    const claim = JSON.stringify({ resolvedFindingIds: readFindingIds(turn.message) });
    return playWriter(turn, 'Hello', `It is spelt right now.\n${claim}`);
  }
  if (turn.message.includes('Write a greeting')) return playWriter(turn, MISSPELT, 'Written.');
  return undefined;
}

function playWriter({ protocol, results }: CoderTurn, word: string, text: string): ScriptedStep {
  const call = shellToolCall(protocol, `printf '${word} world\\n' > src/greeting.txt`);
  return results.length === 0 ? { tools: [call] } : { text };
}

function playReviewer(turn: CoderTurn): ScriptedStep {
  const { message, results } = turn;
  if (results.length === 0) return { tools: [readGreeting(turn)] };
  const isWrong = results.some(({ texts }) => texts.join().includes(MISSPELT));
  const review = {
    schemaVersion: 1,
    reviewId: /"reviewId" is "([^"]+)"/.exec(message)?.[1],
    artifactDigest: /"artifactDigest" is "([^"]+)"/.exec(message)?.[1],
    verdict: isWrong ? 'changes-required' : 'approved',
    findings: isWrong ? [findingIn(message)] : [],
    validationGaps: [],
  };
  return { text: JSON.stringify(review) };
}

function readGreeting({ protocol, work }: CoderTurn): ScriptedToolCall {
  return shellToolCall(protocol, `cat '${work}/src/greeting.txt'`);
}

function findingIn(message: string) {
  return {
    findingId: 'greeting-1',
    severity: 'medium',
    repository: /the "repository" of each finding is "([^"]+)"/.exec(message)?.[1],
    location: 'src/greeting.txt',
    summary: 'The greeting is misspelt.',
    evidence: `It says ${MISSPELT}.`,
    requiredResolution: 'Write Hello.',
  };
}

function readFindingIds(message: string): readonly string[] {
  return [...new Set([...message.matchAll(/"findingId": ?"([^"]+)"/g)].map(([, id = '']) => id))];
}
