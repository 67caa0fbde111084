import { LEASE_OPTION, NONCE_OPTION, PID_OPTION } from './pane-scripts.js';

/** What the server tells of one of our panes. */
export interface PaneListing {
  readonly paneId: string;
  readonly sessionId: string;
  readonly sessionName: string;
  readonly nonce: string;
  readonly leaseToken: string;
  /** The process that was started in the pane. */
  readonly pid: number;
  /** The process ended and the pane was kept. */
  readonly dead: boolean;
  /** Of a dead pane, mostly: tmux 3.3a never tells it for about 3 of 100. */
  readonly exitCode?: number;
  /** Name of the foreground process, a hint. */
  readonly command: string;
}

const FIELDS = [
  '#{pane_id}',
  '#{session_id}',
  `#{${NONCE_OPTION}}`,
  `#{${LEASE_OPTION}}`,
  '#{pane_pid}',
  `#{${PID_OPTION}}`,
  '#{pane_dead}',
  '#{pane_dead_status}',
  '#{session_name}',
  '#{pane_current_command}',
];

/** Lists the panes that carry a nonce. Only the last field can hold a colon. */
export const LIST_PANES_SCRIPT = `list-panes -a -f "#{${NONCE_OPTION}}" -F "${FIELDS.join(':')}"`;

/** Reads one line of {@link LIST_PANES_SCRIPT}; a line that is none of ours is left out. */
export function readPaneListing(line: string): PaneListing | undefined {
  const [paneId, sessionId, nonce, leaseToken, pid, openedWith, dead, exitCode, name, ...command] =
    line.split(':');
  if (!paneId?.startsWith('%') || !sessionId || !nonce || !pid || !name) return undefined;
  // A shell that somebody put into our pane keeps the pane's options, but is nothing of ours.
  if (openedWith && openedWith !== pid) return undefined;
  return {
    paneId,
    sessionId,
    sessionName: name,
    nonce,
    leaseToken: leaseToken ?? '',
    pid: Number(pid),
    dead: dead === '1',
    ...(exitCode ? { exitCode: Number(exitCode) } : {}),
    command: command.join(':'),
  };
}
