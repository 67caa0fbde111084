const word = '[\\p{L}\\p{N}_-]+';
const learned = new RegExp(
  `\\bremember:? the codeword(?: for (?<name>.+?) is| is)? (?<codeword>${word})`,
  'giu',
);
const asked = /\bwhat is the codeword(?: for (?<name>[^?]+?))?\s*\?/iu;

/** The answer when a message asks for a codeword that no earlier message of the body told. */
const UNKNOWN_CODEWORD = 'I do not know the codeword.';

/** The answer to a message that tells a codeword or asks for one, or `undefined` for any other message. */
export function answerCodeword(
  message: string,
  earlierMessages: readonly string[],
): string | undefined {
  const question = asked.exec(message);
  if (question) return recall(question.groups?.['name'], earlierMessages);
  return readCodewords(message).length > 0 ? 'OK, remembered.' : undefined;
}

interface Codeword {
  readonly name: string | undefined;
  readonly codeword: string;
}

function recall(name: string | undefined, earlierMessages: readonly string[]): string {
  const found = earlierMessages
    .flatMap(readCodewords)
    .findLast((known) => known.name?.toLowerCase() === name?.toLowerCase());
  if (!found) return UNKNOWN_CODEWORD;
  return `The codeword${name === undefined ? '' : ` for ${name}`} is ${found.codeword}.`;
}

function readCodewords(message: string): readonly Codeword[] {
  return [...message.matchAll(learned)].flatMap(({ groups }) => {
    const codeword = groups?.['codeword'];
    return codeword === undefined ? [] : [{ name: groups?.['name'], codeword }];
  });
}
