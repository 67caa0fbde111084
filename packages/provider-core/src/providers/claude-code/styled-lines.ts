/** One line of a screen: all of it, and without what is only shown in grey. */
export interface StyledLine {
  readonly text: string;
  readonly solidText: string;
}

interface Style {
  readonly isFaint: boolean;
  readonly isInverse: boolean;
}

const PLAIN: Style = { isFaint: false, isInverse: false };
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what is read here.
const SEQUENCE = /\u001b(?:\[([0-9;:]*)([A-Za-z])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[()].|.)/y;

/** Splits a capture into lines, with the style carried over from line to line as tmux writes it. */
export function readStyledLines(capture: string): readonly StyledLine[] {
  let style = PLAIN;
  return capture.split('\n').map((line) => {
    const cells: Cell[] = [];
    for (let index = 0; index < line.length; ) {
      SEQUENCE.lastIndex = index;
      const match = SEQUENCE.exec(line);
      if (match) {
        if (match[2] === 'm') style = readStyle(style, match[1] ?? '');
        index = SEQUENCE.lastIndex;
        continue;
      }
      cells.push({ character: line.charAt(index), ...style });
      index += 1;
    }
    return { text: join(cells), solidText: join(withoutFaint(cells)) };
  });
}

interface Cell extends Style {
  readonly character: string;
}

/** Plain spaces at the end go; a no-break space is part of the prompt. */
function join(cells: readonly Cell[]): string {
  return cells
    .map(({ character }) => character)
    .join('')
    .replace(/ +$/, '');
}

/** Drops faint cells; the cursor stands inverse on the first letter of a text that is otherwise faint. */
function withoutFaint(cells: readonly Cell[]): readonly Cell[] {
  const isHint = (cell: Cell, index: number) =>
    cell.isFaint || (cell.isInverse && (cells[index + 1]?.isFaint ?? false));
  return cells.filter((cell, index) => !isHint(cell, index));
}

/** Only faint and inverse matter; colours, which carry numbers of their own, are skipped. */
function readStyle(style: Style, parameters: string): Style {
  let { isFaint, isInverse } = style;
  const codes =
    parameters === '' ? [0] : parameters.split(';').map((code) => Number.parseInt(code, 10));
  for (let index = 0; index < codes.length; index += 1) {
    const code = codes[index];
    if (code === 38 || code === 48) index += codes[index + 1] === 5 ? 2 : 4;
    else if (code === 0) isFaint = isInverse = false;
    else if (code === 2) isFaint = true;
    else if (code === 22) isFaint = false;
    else if (code === 7) isInverse = true;
    else if (code === 27) isInverse = false;
  }
  return { isFaint, isInverse };
}
