import type { Logger } from '../../spec/logger.js';
import { findTmuxServer } from './open-tmux-server.js';

/** What a terminal shows, for people: it says nothing about a turn. */
export interface CapturedTerminal {
  /** The same id that `terminal_opened` told. */
  readonly terminalId: string;
  /** At most 10,000 lines and 512 KiB, the newest. */
  readonly text: string;
}

interface CaptureRequest {
  readonly tmuxSocket: string;
  readonly nonce: string;
  readonly logger: Logger;
}

const MAX_LINES = 10_000;
const MAX_BYTES = 512 * 1024;
const CAPTURE_DEADLINE_MS = 5_000;

/** Reads the pane that carries the nonce, ended or not. Starts no server; what cannot be seen is `undefined`. */
export async function captureTerminal({
  tmuxSocket: socketPath,
  nonce,
  logger,
}: CaptureRequest): Promise<CapturedTerminal | undefined> {
  const limits = { deadlineMs: CAPTURE_DEADLINE_MS };
  try {
    await using server = await findTmuxServer({ socketPath }, limits);
    const pane = await server?.findPane({ nonce }, limits);
    if (!server || pane?.state !== 'present') return undefined;
    const text = await server.capture(pane.paneId, { ...limits, historyLines: MAX_LINES });
    return { terminalId: terminalIdOf(pane), text: keepNewest(text) };
  } catch (error) {
    logger.debug({ err: error }, 'terminal not captured');
    return undefined;
  }
}

/** Opaque name of the terminal, the same for every process that looks. A new server numbers its panes from the start. */
export function terminalIdOf({
  nonce,
  paneId,
  pid,
}: {
  readonly nonce: string;
  readonly paneId: string;
  readonly pid: number;
}): string {
  return `${nonce.slice(0, 8)}${paneId}.${pid}`;
}

/** The newest lines that fit, whole, and without the empty rest of a screen. Pure. */
export function keepNewest(text: string): string {
  const lines = text.trimEnd().split('\n').slice(-MAX_LINES);
  const kept: string[] = [];
  let bytes = 0;
  for (const line of lines.reverse()) {
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > MAX_BYTES) break;
    kept.push(line);
  }
  return kept.reverse().join('\n');
}
