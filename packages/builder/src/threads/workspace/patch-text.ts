import type { Sha256 } from '../coding-job.js';
import { digestOfText } from '../contract/canonical-json.js';
import { readText } from './tree-change.js';

/** The digest of a patch: of its text as UTF-8, which is exact, since a canonical patch holds nothing else. */
export function digestPatch(patch: string): Sha256 {
  return digestOfText(patch);
}

/**
 * A patch as text. A section whose bytes are no UTF-8 is replaced by the one that carries its file as binary, so that the
 * text holds every byte. `undefined` where even that one is no text, or the two do not belong together.
 */
export function mergeSections(text: Uint8Array, binary: Uint8Array): string | undefined {
  const plain = splitSections(text);
  const encoded = splitSections(binary);
  if (plain.length !== encoded.length) return undefined;
  const sections = plain.map(
    (section, at) => readText(section) ?? readText(encoded[at] ?? section),
  );
  return sections.includes(undefined) ? undefined : sections.join('');
}

/** No line within a section begins like this: each has a mark before it, or is base 85 without a blank. */
const HEADER = Buffer.from('\ndiff --git ');

function splitSections(patch: Uint8Array): readonly Buffer[] {
  const bytes = Buffer.from(patch.buffer, patch.byteOffset, patch.byteLength);
  const sections: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const next = bytes.indexOf(HEADER, start);
    const end = next === -1 ? bytes.length : next + 1;
    sections.push(bytes.subarray(start, end));
    start = end;
  }
  return sections;
}
