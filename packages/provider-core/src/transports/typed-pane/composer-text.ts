import type { Composer, DeliveryPlan } from '../../spec/typed-pane.js';

/** Where the CLI shortens what it shows of a long text. */
const ELISION = /\[\.\.\.[^\]]*\.\.\.\]|…/;

/**
 * Tells whether the composer shows the text that was pasted, and nothing else. It compares what can be seen: line
 * breaks and blanks are laid out anew on the screen, characters without a width may be missing. The gate proves the text.
 */
export function showsDelivery(
  composer: Composer,
  { pastes, shownAs }: Extract<DeliveryPlan, { kind: 'pastes' }>,
): boolean {
  if (composer.content === 'empty' || composer.content === 'other_mode') return false;
  if (composer.content === 'token' && shownAs === 'token') return countTokens(composer) === 1;
  // A token that was expanded again shows the text, and a text may look like a token.
  return showsText(composer, pastes.join(''));
}

/** The same for a text whose way in is not known. */
export function showsText(composer: Composer, text: string): boolean {
  const shown = visible(composer.lines.join(''));
  const wanted = visible(text);
  if (composer.isCut) return wanted.endsWith(visible(composer.lines.slice(1).join('')));
  const [start = '', ...rest] = composer.lines.join('').split(ELISION);
  const end = rest.at(-1);
  if (end === undefined) return shown === wanted;
  return wanted.startsWith(visible(start)) && wanted.endsWith(visible(end));
}

function countTokens({ lines }: Composer): number {
  return lines.join('').match(/\[Pasted text #/g)?.length ?? 0;
}

/**
 * Blanks, and what a terminal shows no cell for, are left out; pictures too, for of a joined one tmux may keep a part only.
 */
function visible(text: string): string {
  return text.normalize('NFC').replace(UNSEEN, '').replace(PICTURES, '');
}

const UNSEEN = /[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{M}\ufffd]/gu;
const PICTURES = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}]/gu;
