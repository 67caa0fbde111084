import { readFile } from 'node:fs/promises';
import {
  countMessage,
  type HandleJson,
  type LedgerTools,
  readUserMessages,
} from '@holdfast/provider-core/certification';
import { ApiSubject } from '../../certify/api/api-subject.js';
import type { SessionOutcome } from '../run-session-plan.js';
import type { KillOutcome } from '../strike.js';
import type { ApiPlan } from './plan-api-kills.js';
import { composeErrand, type Errand, strikeApi } from './strike-api.js';

const CODEWORD = 'Remember the codeword heron.';
const LAST = 'Tell me in the end: what is the codeword?';

/** Leads one session through its kills, then counts what the model sees, what the tools did and what is on record. */
export async function runApiPlan({ api, tools: kind, cells }: ApiPlan): Promise<SessionOutcome> {
  const subject = await ApiSubject.create(api);
  const tools = await subject.tools(kind);
  const kills: KillOutcome[] = [];
  const errands: Errand[] = [];
  let handle: HandleJson | undefined;
  let judged: Pick<SessionOutcome, 'doubled' | 'missing'> = { doubled: [], missing: [] };
  try {
    for (const cell of cells) {
      const isFirst = handle === undefined;
      const errand = isFirst
        ? { text: CODEWORD, tag: undefined, wasDecided: false }
        : composeErrand(tools, cell, errands.length);
      const struck = await strikeApi({ subject, tools, handle, cell, message: errand.text });
      kills.push(struck.outcome);
      if (!struck.turn) break;
      handle = struck.turn.handle;
      errands.push({ ...errand, wasDecided: struck.outcome.errors.includes('turn_interrupted') });
    }
    if (handle) judged = await judge({ subject, tools, handle, errands });
  } catch (error) {
    judged = { doubled: [], missing: [`the session broke: ${String(error)}`] };
  }
  const leftover = await subject[Symbol.asyncDispose]().then(
    () => [],
    (error: unknown) => [String(error)],
  );
  return { kills, ...judged, leftover };
}

interface Ended {
  readonly subject: ApiSubject;
  readonly tools: LedgerTools;
  readonly handle: HandleJson;
  readonly errands: readonly Errand[];
}

async function judge({ subject, tools, handle, errands }: Ended) {
  const turn = await subject.continue(handle, LAST, { config: tools.config });
  const request = subject.modelRequests().at(-1);
  if (!request) throw new Error('The model was never asked.');
  const expected = [...errands.map(({ text }) => text), LAST];
  const seen = readUserMessages(request);
  const written = await readFile(subject.transcriptOf(handle), 'utf8');
  const ledger = await subject.ledger();
  const doubled = [
    ...expected.filter((text) => countMessage(request, text) > 1),
    ...expected.filter((text) => timesTaken(written, text) > 1).map((text) => `on record: ${text}`),
    ...errands.flatMap(({ tag }) => (tag !== undefined && timesDone(ledger, tag) > 1 ? [tag] : [])),
  ];
  const missing = [
    ...expected.filter((text) => !seen.includes(text) || timesTaken(written, text) === 0),
    // An effect may be missing only where the model was told that nobody knows.
    ...errands.flatMap(({ tag, wasDecided }) =>
      tag !== undefined && !wasDecided && timesDone(ledger, tag) === 0 ? [`the effect ${tag}`] : [],
    ),
    ...(turn.answer.includes('heron') ? [] : ['the codeword']),
  ];
  if (doubled.length + missing.length === 0 && seen.join('\0') !== expected.join('\0')) {
    missing.push('the order of the messages');
  }
  return { doubled, missing };
}

function timesDone(ledger: readonly string[], tag: string): number {
  return ledger.filter((line) => line === tag).length;
}

/** How often the transcript took a message in. */
function timesTaken(written: string, text: string): number {
  const wanted = JSON.stringify(text);
  return written
    .split('\n')
    .filter((line) => line.includes('"turn_started"') && line.includes(wanted)).length;
}
