import fc from 'fast-check';
import { corpus, type FuzzText, illFormed } from './corpus.js';
import { type FuzzCell, isNamed } from './fuzz-cell.js';
import { createFuzzPlace, type FuzzPlace } from './fuzz-place.js';
import { FuzzTally } from './fuzz-tally.js';

/** How many texts fast-check makes for a cell, and from which seed. */
export interface FuzzRuns {
  readonly runs: number;
  readonly seed: number;
}

/** Sends the corpus and what fast-check makes through one cell, and compares what the model got with what was given. */
export async function runFuzzCell(cell: FuzzCell, { runs, seed }: FuzzRuns): Promise<FuzzTally> {
  const tally = new FuzzTally();
  await using place = await createFuzzPlace(cell);
  for (const one of corpus) await sendOne(place, cell, tally, one);
  await refuseIllFormed(place, tally);
  await sendMadeTexts(place, cell, tally, { runs, seed });
  const touched = await place.findTouchedFiles();
  for (const name of touched) tally.fault('files', name, 'was made or changed');
  if (place.requests().some(({ bodyText }) => bodyText.includes(place.secret))) {
    tally.fault('files', 'notes.txt', 'was read and sent');
  }
  return tally;
}

async function sendOne(
  { service, requests }: FuzzPlace,
  cell: FuzzCell,
  tally: FuzzTally,
  { class: name, text, mayRefuse, isLong = false }: FuzzText,
): Promise<boolean> {
  const before = requests().length;
  const result = await service.send(text, { fresh: isLong });
  const sent = requests().slice(before);
  switch (result.outcome) {
    case 'failed':
      tally.fault(name, text, `failed: ${result.message}`);
      return false;
    case 'refused':
      tally.refused(name, result.reason);
      if (sent.length > 0) tally.fault(name, text, 'was refused, and the model was asked');
      if (!isNamed(cell, mayRefuse)) tally.fault(name, text, `was refused (${result.reason})`);
      return isNamed(cell, mayRefuse);
    case 'answered': {
      const last = sent
        .at(-1)
        ?.messages.findLast(({ role, texts }) => role === 'user' && texts.includes(text));
      if (last) tally.accepted(name);
      else tally.fault(name, text, `arrived as ${describe(sent.at(-1)?.messages.at(-1)?.texts)}`);
      if (isLong) await service.send('A short one again.', { fresh: true });
      return last !== undefined;
    }
  }
}

function describe(texts: readonly string[] | undefined): string {
  return JSON.stringify(texts?.map((text) => text.slice(0, 80)) ?? 'nothing');
}

async function refuseIllFormed({ service, requests }: FuzzPlace, tally: FuzzTally): Promise<void> {
  const before = requests().length;
  const { outcome } = await service.send(illFormed);
  if (outcome === 'refused' && requests().length === before) tally.refused('half a pair', outcome);
  else tally.fault('half a pair', illFormed, `was ${outcome}`);
}

/** Pieces that mean something to somebody on the way, in any order. */
const pieces = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constantFrom(
    '\t',
    '\r\n',
    '\n',
    '\r',
    '\u001b[0m',
    '\u001b',
    '\u009b',
    '\u0000',
    '\u001b[201~',
    '\u2028',
    '\ufeff',
    '\u00a0',
    'e\u0301',
    '!',
    '/',
    '#',
    '@',
    '-',
    'exit',
    '\\',
    '[Pasted text #1]',
    ' ',
    '@notes.txt',
    '"',
    "'",
    '`',
    '$(touch canary)',
    '#{pane_id}',
    '🦩',
    '漢字',
  ),
);
const madeText = fc
  .array(pieces, { minLength: 1, maxLength: 12 })
  .map((parts) => parts.join(''))
  .filter((text) => text.isWellFormed() && text.trim() !== '');

async function sendMadeTexts(
  place: FuzzPlace,
  cell: FuzzCell,
  tally: FuzzTally,
  { runs, seed }: FuzzRuns,
): Promise<void> {
  const isPane = cell.provider === 'claude-code' && cell.way === 'tmux';
  // A made text may happen to begin like a command or to name the file that is there.
  const mayRefuse = isPane ? ['claude-code tmux'] : [];
  const property = fc.asyncProperty(madeText, async (text) => {
    const acts =
      cell.provider === 'claude-code' && (text.startsWith('/') || text.includes('@notes.txt'));
    const allowed = acts ? [`${cell.provider} ${cell.way}`] : mayRefuse;
    return sendOne(place, cell, tally, { class: 'made', text, mayRefuse: allowed });
  });
  const details = await fc.check(property, { numRuns: runs, seed, endOnFailure: true });
  if (details.failed && tally.faults.length === 0) {
    tally.fault('made', String(details.counterexample), String(details.errorInstance));
  }
}
