import {
  checkPlainToken,
  quoteArgument,
  quoteFormatLiteral,
  readSessionName,
} from './tmux-quote.js';

/** The pane option that marks a pane as ours. */
export const NONCE_OPTION = '@holdfast_nonce';
/** The pane option that holds the process the pane was opened with: what a person puts in its place is not ours. */
export const PID_OPTION = '@holdfast_pid';
/** The pane option that every write is conditional on. */
export const LEASE_OPTION = '@holdfast_lease';

const NAMED_KEYS = [
  'Enter',
  'Escape',
  'Tab',
  'BTab',
  'BSpace',
  'Space',
  'Up',
  'Down',
  'Left',
  'Right',
  'C-a',
  'C-c',
  'C-d',
  'C-e',
  'C-j',
  'C-k',
  'C-l',
  'C-u',
] as const;

/** A key that can be pressed in a pane: a named one, or a digit or letter of a dialog. */
export type TmuxKey = (typeof NAMED_KEYS)[number] | `${number}` | 'y' | 'n';

/** One step of a write: text that goes in as a bracketed paste, or a key. */
export type PanePart = { readonly text: string } | { readonly key: TmuxKey };

/** What a new pane runs. Values reach the process unread by any shell. */
export interface OpenPaneRequest {
  /** A hint: characters tmux would rewrite become `_`, and a taken name gets a suffix. */
  readonly sessionName: string;
  /** Program and arguments; nothing of it is read by a shell. */
  readonly argv: readonly string[];
  /** The whole environment of the process. tmux adds TERM alone. */
  readonly env: Readonly<Record<string, string>>;
  readonly workingDir: string;
  /** Random; by it the pane is found again. */
  readonly nonce: string;
  /** Writes must bring it. */
  readonly leaseToken: string;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  /**
   * Keeps the pane with its last screen when the process ends; otherwise the pane goes with it. A program that ends at once
   * can leave an empty screen: tmux 3.3a may see its end before its output.
   */
  readonly keepWhenDead?: boolean | undefined;
}

const DEFAULT_COLUMNS = 160;
const DEFAULT_ROWS = 50;

/** Options of our server: nothing of a user's habits, nothing that types, resizes or renames by itself. */
export const SERVER_OPTIONS_SCRIPT = [
  'set-option -s exit-empty off',
  'set-option -s exit-unattached off',
  'set-option -s set-clipboard off',
  'set-option -g default-shell /bin/sh',
  'set-option -g default-command ""',
  'set-option -g update-environment ""',
  'set-option -g destroy-unattached off',
  'set-option -g detach-on-destroy on',
  'set-option -g history-limit 10000',
  `set-option -g default-size ${DEFAULT_COLUMNS}x${DEFAULT_ROWS}`,
  'set-option -g set-titles off',
  'set-option -g mouse off',
  'set-option -g bell-action none',
  // Not `manual`: with that as the global value, tmux 3.3a crashes at the next new-session. Each window gets it instead.
  'set-option -gw window-size latest',
  'set-option -gw remain-on-exit off',
  'set-option -gw automatic-rename off',
  'set-option -gw allow-rename off',
].join(' ; ');

/** Prints the names of all variables a new pane would inherit. */
export const INHERITED_VARIABLES_SCRIPT = 'show-environment -g ; show-environment -gh';

/** Names that `show-environment` printed, set and removed ones alike. */
export function readVariableNames(lines: readonly string[]): string[] {
  return lines.flatMap((line) => /^-?([A-Za-z_][A-Za-z0-9_]*)(?:=|$)/.exec(line)?.[1] ?? []);
}

/** Variables that tmux sets in a pane by itself. TERM is not among them: it must fit the pane. */
const SET_BY_TMUX = [
  'TMUX',
  'TMUX_PANE',
  'TERM_PROGRAM',
  'TERM_PROGRAM_VERSION',
  'COLORTERM',
  'SHELL',
  'PWD',
];

/** The command line that opens a pane, marks it and prints `session pane pid name`. */
export function createOpenPaneScript(
  request: OpenPaneRequest,
  inheritedVariables: readonly string[],
): string {
  const name = readSessionName(request.sessionName);
  const { columns = DEFAULT_COLUMNS, rows = DEFAULT_ROWS, env, nonce, leaseToken } = request;
  checkPlainToken(nonce, 'nonce');
  checkPlainToken(leaseToken, 'leaseToken');
  const commands = [
    [
      'new-session -d -P -F "#{session_id} #{pane_id} #{pane_pid} #{session_name}"',
      `-s ${name} -x ${columns} -y ${rows} -c ${quoteFormatLiteral(request.workingDir)}`,
      ...Object.entries(env).map(([key, value]) => `-e ${quoteArgument(`${key}=${value}`)}`),
      '--',
      ...cleanArgv(request, inheritedVariables).map(quoteArgument),
    ].join(' '),
    `set-option -w -t =${name}: window-size manual`,
    // tmux gives a new window the size of whatever client is attached, however small; the program has not run yet.
    `resize-window -t =${name}: -x ${columns} -y ${rows}`,
    `set-option -p -F -t =${name}: ${PID_OPTION} "#{pane_pid}"`,
    `set-option -p -t =${name}: ${NONCE_OPTION} ${nonce}`,
    `set-option -p -t =${name}: ${LEASE_OPTION} ${leaseToken}`,
  ];
  if (request.keepWhenDead) commands.push(`set-option -p -t =${name}: remain-on-exit on`);
  return commands.join(' ; ');
}

/**
 * The values go in as session variables, never as arguments; `env` takes away by name what is not asked for and is
 * replaced by the program. At least two arguments, so that tmux executes them without its shell.
 */
function cleanArgv(
  { argv, env }: OpenPaneRequest,
  inheritedVariables: readonly string[],
): readonly string[] {
  const [program] = argv;
  if (!program) throw new TypeError('argv must name a program');
  for (const key of Object.keys(env)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(key)) throw new TypeError('env holds an invalid name');
  }
  const unwanted = [...new Set([...SET_BY_TMUX, ...inheritedVariables])].filter(
    (key) => key !== 'TERM' && !(key in env),
  );
  const clean = ['/usr/bin/env', ...unwanted.flatMap((key) => ['-u', key]), '--'];
  // `env` would take a program with an equals sign in its path for a variable.
  return program.includes('=')
    ? [...clean, '/bin/sh', '-c', 'exec "$0" "$@"', ...argv]
    : [...clean, ...argv];
}

interface FencedWrite {
  readonly paneId: string;
  /** The lease token that the pane must carry. */
  readonly token: string;
  /** Names who writes; a writer that was revoked writes no more. */
  readonly writer: string;
  readonly commands: string;
  /** Also done to a pane that was kept when its process ended. */
  readonly evenDead?: boolean | undefined;
}

/**
 * A write that tmux does only while the pane carries our token and the writer is not revoked, judged inside the server.
 * A command that we gave up on stays in a pipe and runs when a stopped server goes on (seen 5 times of 6).
 */
export function createFencedScript(write: FencedWrite): string {
  const { paneId, token, writer, commands, evenDead = false } = write;
  checkPaneId(paneId);
  checkPlainToken(token, 'token');
  // A pane that an earlier version opened does not say its process.
  const isProcess = `#{?${PID_OPTION},#{==:#{${PID_OPTION}},#{pane_pid}},1}`;
  const isPane = `#{&&:#{==:#{pane_id},${paneId}},${isProcess}}`;
  const isCurrent = `#{==:#{${LEASE_OPTION}}#{${REVOKED_OPTION}_${writer}},${token}}`;
  // tmux 3.3a crashes, with every session, when something is pasted into a dead pane.
  const isAlive = evenDead ? '1' : '#{?pane_dead,0,1}';
  const condition = `#{&&:${isPane},#{&&:${isCurrent},${isAlive}}}`;
  const refusal = `display-message -p -t ${paneId} "refused #{pane_id} #{pane_dead}"`;
  return `if-shell -F -t ${paneId} "${condition}" { ${commands} ; display-message -p done } { ${refusal} }`;
}

const REVOKED_OPTION = '@holdfast_revoked';

/** After this no fenced write of `writer` is done any more. */
export function createRevokeScript(writer: string): string {
  return `set-option -s ${REVOKED_OPTION}_${writer} !`;
}

/** The commands that put `parts` into a pane, each text by a buffer of its own that goes with the paste. */
export function createWriteCommands(
  paneId: string,
  parts: readonly PanePart[],
  bufferName: string,
): string {
  if (parts.length === 0) throw new TypeError('nothing to write');
  const commands = parts.map((part) => {
    if ('key' in part) return `send-keys -t ${paneId} ${readKeyName(part.key)}`;
    if (part.text === '') throw new TypeError('an empty text cannot be pasted');
    return [
      `set-buffer -b ${bufferName} -- ${quoteArgument(part.text)}`,
      `paste-buffer -p -r -d -b ${bufferName} -t ${paneId}`,
    ].join(' ; ');
  });
  return commands.join(' ; ');
}

function readKeyName(key: string): string {
  if (NAMED_KEYS.some((name) => name === key) || /^[0-9yn]$/.test(key)) return key;
  throw new TypeError(`not a key that can be pressed: ${JSON.stringify(key)}`);
}

/** Throws unless `paneId` is an id such as `%12`. */
export function checkPaneId(paneId: string): void {
  if (!/^%\d+$/.test(paneId)) throw new TypeError('paneId must be an id such as %12');
}
