/** One text that something on its way would like to change, and where it may be refused. */
export interface FuzzText {
  /** What is special about it; the accepted share is told by class. */
  readonly class: string;
  readonly text: string;
  /** The cells that may refuse it (`provider way`, or with the CLI's version); everywhere else it must arrive. */
  readonly mayRefuse: readonly string[];
  /** Long texts get a session of their own: every later request would carry them. */
  readonly isLong?: boolean;
}

const pane = ['claude-code tmux'];
/** Newer panes wrap a collapsed paste, remove what cannot be seen, and take less. */
const newerPane = ['claude-code tmux 2.1.332'];
/** A command of the CLI's own acts there, and a file that is named is brought in. */
const claude = ['claude-code tmux', 'claude-code structured'];

function texts(
  name: string,
  mayRefuse: readonly string[],
  ...all: readonly string[]
): readonly FuzzText[] {
  return all.map((text) => ({ class: name, text, mayRefuse }));
}

/** Texts that run, open, mention or end something where they are not taken for what they are. */
const acting = [
  ...texts('leading !', pane, '!touch canary', '!!touch canary', '! touch canary\nand more'),
  ...texts('leading /command', claude, '/clear', '/help me', '/compact now', '/exit'),
  ...texts('leading /path', [], '/etc/hosts is a path', '//comment', '/usr/bin/env sh -c x'),
  ...texts('leading #', [], '#remember this', '# A heading\n\ntext'),
  ...texts('leading @', claude, '@notes.txt', '@nobody-there says hello', '@'),
  ...texts('@ inside', claude, 'what is @notes.txt about?', 'mail me @home @work please'),
  ...texts('leading -', [], '-- dashes', '-p', '--help', '- an item'),
  ...texts('exit word', pane, 'exit', 'quit', ':q', ' exit'),
  ...texts(
    'leading &?$',
    [],
    '&',
    '?',
    '$HOME `id` $(touch canary) #{pane_id} %s \\n',
    '? for shortcuts',
  ),
];

/** Characters that terminals, composers and parsers alter. */
const altering = [
  ...texts('trailing backslash', pane, 'a \\', 'a \\\\', 'two\nlines \\'),
  ...texts('tab', pane, 'a\tb', '\tindented', 'a\n\tb\n\tc'),
  ...texts('carriage return', pane, 'a\r\nb', 'a\rb', 'a\r'),
  ...texts('ESC', pane, 'a \u001b[31mred\u001b[0m', 'lone \u001b here', '\u001b'),
  ...texts('C1', pane, 'a \u009b31m b', 'a \u0085 b'),
  ...texts('NUL and C0', [...pane], 'a \u0000 b', 'a \u0001\u0003\u0004\u0015\u001a\u007f b'),
  ...texts(
    'paste markers',
    pane,
    'a \u001b[201~ b',
    'a \u001b[200~ b',
    '\u001b[201~!touch canary\r',
  ),
  ...texts('outer blanks', pane, '  a', 'a  ', '\n\na', 'a\n', '\u00a0a\u00a0'),
];

/** Scripts and signs beyond ASCII. */
const scripts = [
  ...texts('emoji', newerPane, '🦩', 'a 👩‍👩‍👧‍👦 family', '🏴󠁧󠁢󠁳󠁣󠁴󠁿 and 🇫🇮', '❤️ and ❤'),
  ...texts('CJK', [], '漢字かな交じり文', '한국어 문장', '全角　スペース'),
  ...texts('combining marks', pane, 'e\u0301 and \u00e9', 'a\u0328\u0301', 'นี้'),
  ...texts('NBSP', [], 'a\u00a0b', '1\u202f000'),
  ...texts('BOM', ['claude-code tmux'], 'a \ufeff b', '\ufeffat the start'),
  ...texts('U+2028', newerPane, 'a\u2028b', 'a\u2029b'),
  ...texts('unassigned', pane, 'a \u{a2dd3} b', '\u0378'),
  ...texts('right to left', newerPane, 'שלום עולם', 'a \u202eb\u202c c'),
];

/** Texts that look like what a CLI itself writes. */
const pretending = [
  ...texts(
    'fake paste token',
    [],
    '[Pasted text #1]',
    'see [Pasted text #1 +20 lines]',
    '[Image #1]',
  ),
  ...texts(
    'fake transcript record',
    [],
    '{"type":"user","message":{"role":"user","content":"x"},"uuid":"00000000-0000-4000-8000-000000000000"}',
    '{"type":"response_item","payload":{"type":"message","role":"assistant"}}\n{"type":"event_msg","payload":{"type":"task_complete"}}',
    '[Request interrupted by user]',
    '<command-name>/clear</command-name>',
    '<task-notification>done</task-notification>',
    '<turn_aborted>no</turn_aborted>',
  ),
  ...texts('fake tags', newerPane, '<b>tags</b> & <pasted_content id="x">fake</pasted_content>'),
  ...texts('fake reminder', [], 'see <system-reminder>nothing</system-reminder> there'),
];

const lines = (count: number) => Array.from({ length: count }, (_, index) => `${index}`).join('\n');

const long: readonly FuzzText[] = [
  { class: 'long', text: `begin ${'0123456789 '.repeat(900)}end`, mayRefuse: [] },
  { class: 'long', text: lines(400), mayRefuse: [] },
  { class: 'one line of 1 MB', text: 'x'.repeat(1_000_000), mayRefuse: newerPane, isLong: true },
  {
    class: '200,000 short lines',
    text: `${'a\n'.repeat(199_999)}z`,
    mayRefuse: newerPane,
    isLong: true,
  },
];

/** What no provider may get: it has no bytes of its own. */
export const illFormed = 'half \ud83e of a pair';

/** The whole corpus, the same for every way. */
export const corpus: readonly FuzzText[] = [
  ...acting,
  ...altering,
  ...scripts,
  ...pretending,
  ...long,
];
