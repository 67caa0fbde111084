import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { readProcessStartTime } from '../../state/process-identity.js';
import type { CommandChannel } from './command-channel.js';
import type { TmuxReply } from './control-protocol.js';
import type { CommandLimits } from './deadline.js';
import { LIST_PANES_SCRIPT, type PaneListing, readPaneListing } from './pane-listing.js';
import {
  checkPaneId,
  createFencedScript,
  createOpenPaneScript,
  createWriteCommands,
  INHERITED_VARIABLES_SCRIPT,
  LEASE_OPTION,
  type OpenPaneRequest,
  type PanePart,
  readVariableNames,
  type TmuxKey,
} from './pane-scripts.js';

import { isTmuxError, TmuxError } from './tmux-error.js';
import { checkPlainToken, readSessionName } from './tmux-quote.js';

/** A pane that was just opened. Its ids are valid for the life of this server only. */
export interface Pane {
  readonly paneId: string;
  readonly sessionId: string;
  /** A hint for people; look up by nonce. */
  readonly sessionName: string;
  readonly pid: number;
  /** Ticks since boot; absent where the system does not tell or the process has ended already. */
  readonly startTime?: string;
}

/** Three-valued: a server that does not answer says nothing about a pane. */
export type PaneObservation =
  | ({ readonly state: 'present'; readonly startTime?: string } & PaneListing)
  | { readonly state: 'absent' }
  | { readonly state: 'unknown'; readonly why: string };

/** `fenced`: the pane carries another lease token and nothing was typed. */
export type WriteOutcome = 'written' | 'fenced' | 'no_pane';

interface Fence extends CommandLimits {
  /** The token the pane must carry, judged inside the server. */
  readonly token: string;
}

/** Where the cursor stands, from 0. */
export interface PaneCursor {
  readonly column: number;
  readonly row: number;
}

interface CaptureOptions extends CommandLimits {
  /** Keeps colours and attributes as escape sequences. */
  readonly escapes?: boolean;
  /** Also this many lines of history above the screen. */
  readonly historyLines?: number;
}

/** Our tmux server, driven over one control connection, which all of this process share. Disposing lets go of it; server and panes stay. */
export class TmuxServer implements AsyncDisposable {
  readonly #channel: CommandChannel;
  readonly #listeners: Set<() => void>;
  readonly #release: () => Promise<void>;

  constructor(channel: CommandChannel, listeners: Set<() => void>, release: () => Promise<void>) {
    this.#channel = channel;
    this.#listeners = listeners;
    this.#release = release;
  }

  get pid(): number | undefined {
    return this.#channel.serverPid;
  }

  /** Opens a pane in a session of its own and marks it with nonce and lease token in the same command. */
  async openPane(request: OpenPaneRequest, limits?: CommandLimits): Promise<Pane> {
    const isFolder = await stat(request.workingDir).then(
      (entry) => entry.isDirectory(),
      () => false,
    );
    // tmux would start the program somewhere else without a word.
    if (!isFolder) throw new TmuxError('command_failed', 'The working directory is not a folder.');

    const inherited = await this.#read(INHERITED_VARIABLES_SCRIPT, limits);
    const names = readVariableNames(inherited);
    let reply = await this.#channel.write(() => createOpenPaneScript(request, names), limits);
    if (reply.error?.startsWith('duplicate session')) {
      const sessionName = `${readSessionName(request.sessionName)}-${request.nonce.slice(0, 8)}`;
      const renamed = { ...request, sessionName };
      reply = await this.#channel.write(() => createOpenPaneScript(renamed, names), limits);
    }
    return readOpenedPane(checkReply(reply));
  }

  /** Looks for the pane that carries the nonce, whatever its session is called. */
  async findPane(
    { nonce }: { readonly nonce: string },
    limits?: CommandLimits,
  ): Promise<PaneObservation> {
    checkPlainToken(nonce, 'nonce');
    try {
      const panes = await this.#listMarkedPanes(limits);
      const pane = panes.find((candidate) => candidate.nonce === nonce);
      if (!pane) return { state: 'absent' };
      const startTime = readProcessStartTime(pane.pid);
      return { state: 'present', ...pane, ...(startTime === undefined ? {} : { startTime }) };
    } catch (error) {
      if (isTmuxError(error, 'server_gone')) return { state: 'absent' };
      if (isTmuxError(error)) return { state: 'unknown', why: error.message };
      throw error;
    }
  }

  /** Every pane of ours; empty when the server is gone. */
  async listPanes(limits?: CommandLimits): Promise<readonly PaneListing[]> {
    try {
      return await this.#listMarkedPanes(limits);
    } catch (error) {
      if (isTmuxError(error, 'server_gone')) return [];
      throw error;
    }
  }

  /** The text on the screen, one line a row, without the blanks at the ends of lines. */
  async capture(
    paneId: string,
    { escapes = false, historyLines = 0, ...limits }: CaptureOptions = {},
  ): Promise<string> {
    checkPaneId(paneId);
    const flags = `${escapes ? ' -e' : ''}${historyLines > 0 ? ` -S -${Math.trunc(historyLines)}` : ''}`;
    return (await this.#read(`capture-pane -p${flags} -t ${paneId}`, limits)).join('\n');
  }

  async readCursor(paneId: string, limits?: CommandLimits): Promise<PaneCursor> {
    checkPaneId(paneId);
    const format = '#{pane_id} #{cursor_x} #{cursor_y}';
    const [line] = await this.#read(`display-message -p -t ${paneId} "${format}"`, limits);
    const [id, column, row] = (line ?? '').split(' ');
    if (id !== paneId) throw new TmuxError('no_pane', `There is no pane ${paneId}.`);
    return { column: Number(column), row: Number(row) };
  }

  /**
   * From here on only writes with `token` reach the pane. With `expected`, the token seen before, only while the pane still
   * carries that one: an owner that slept through a takeover cannot take the pane back.
   */
  async setLeaseToken(
    paneId: string,
    token: string,
    { expected, ...limits }: CommandLimits & { readonly expected?: string } = {},
  ): Promise<WriteOutcome> {
    checkPaneId(paneId);
    checkPlainToken(token, 'token');
    const change = `set-option -p -t ${paneId} ${LEASE_OPTION} ${token}`;
    if (expected !== undefined)
      return this.#runFenced(paneId, change, { ...limits, token: expected, evenDead: true });
    return this.#runOnPane(() => change, limits);
  }

  /** Pastes exactly these characters, in brackets where the program asked for them. */
  async paste(paneId: string, text: string, fence: Fence): Promise<WriteOutcome> {
    return this.pasteParts(paneId, [{ text }], fence);
  }

  async sendKey(paneId: string, key: TmuxKey, fence: Fence): Promise<WriteOutcome> {
    return this.pasteParts(paneId, [{ key }], fence);
  }

  /** Writes several pastes and keys as one: all of it or, when fenced, nothing. */
  async pasteParts(
    paneId: string,
    parts: readonly PanePart[],
    fence: Fence,
  ): Promise<WriteOutcome> {
    const buffer = `holdfast-${randomBytes(6).toString('hex')}`;
    const outcome = await this.#runFenced(
      paneId,
      createWriteCommands(paneId, parts, buffer),
      fence,
    );
    // A pane that ends between check and paste leaves the text behind.
    if (outcome === 'no_pane') await this.#channel.read(`delete-buffer -b ${buffer}`);
    return outcome;
  }

  /** Ends the pane and hangs up its process; with a token only while the pane carries it. */
  async killPane(
    paneId: string,
    { token, ...limits }: CommandLimits & { readonly token?: string } = {},
  ): Promise<'killed' | 'fenced' | 'no_pane'> {
    checkPaneId(paneId);
    const kill = `kill-pane -t ${paneId}`;
    const outcome =
      token === undefined
        ? await this.#runOnPane(() => kill, limits)
        : await this.#runFenced(paneId, kill, { ...limits, token, evenDead: true });
    return outcome === 'written' ? 'killed' : outcome;
  }

  /** Ends a session by its id (`$3`); one that is gone already is no error. */
  async killSession(sessionId: string, limits?: CommandLimits): Promise<void> {
    if (!/^\$\d+$/.test(sessionId)) throw new TypeError('sessionId must be an id such as $3');
    const { error } = await this.#channel.write(() => `kill-session -t '${sessionId}'`, limits);
    if (error !== undefined && !error.startsWith("can't find session")) throw readFailure(error);
  }

  /** Ends the server with every pane. */
  async killServer(): Promise<void> {
    try {
      await this.#channel.write(() => 'kill-server');
    } catch (error) {
      if (!isTmuxError(error, 'server_gone')) throw error;
    }
  }

  /** Calls back when a pane or session came or went, or the connection ended: a hint to look again. */
  onPanesChanged(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#release();
  }

  async #listMarkedPanes(limits?: CommandLimits): Promise<PaneListing[]> {
    const lines = await this.#read(LIST_PANES_SCRIPT, limits);
    return lines.flatMap((line) => readPaneListing(line) ?? []);
  }

  async #read(script: string, limits?: CommandLimits): Promise<readonly string[]> {
    return checkReply(await this.#channel.read(script, limits));
  }

  async #runFenced(
    paneId: string,
    commands: string,
    { token, evenDead, ...limits }: Fence & { readonly evenDead?: boolean },
  ): Promise<WriteOutcome> {
    const createScript = (writer: string) =>
      createFencedScript({ paneId, token, writer, commands, evenDead });
    return this.#runOnPane(createScript, limits, (verdict) => {
      if (verdict === 'done') return 'written';
      const isThere =
        verdict === `refused ${paneId} 0` || (evenDead && verdict === `refused ${paneId} 1`);
      return isThere ? 'fenced' : 'no_pane';
    });
  }

  async #runOnPane(
    createScript: (writer: string) => string,
    limits: CommandLimits,
    readVerdict: (lastLine: string | undefined) => WriteOutcome = () => 'written',
  ): Promise<WriteOutcome> {
    const { lines, error } = await this.#channel.write(createScript, limits);
    if (error === undefined) return readVerdict(lines.at(-1));
    const failure = readFailure(error);
    if (failure.code === 'no_pane') return 'no_pane';
    throw failure;
  }
}

function checkReply({ lines, error }: TmuxReply): readonly string[] {
  if (error !== undefined) throw readFailure(error);
  return lines;
}

/** tmux has words, not codes; these stand in every version from 3.2 on. */
function readFailure(error: string): TmuxError {
  if (/can't find pane|no such pane|target pane has exited/.test(error)) {
    return new TmuxError('no_pane', `tmux: ${error.trim()}`);
  }
  if (/no server running/.test(error)) return new TmuxError('server_gone', `tmux: ${error.trim()}`);
  return new TmuxError('command_failed', `tmux: ${error.trim().slice(-500)}`, { mayHaveRun: true });
}

function readOpenedPane(lines: readonly string[]): Pane {
  const [sessionId, paneId, pid, sessionName] = (lines[0] ?? '').split(' ');
  if (!sessionId || !paneId || !pid || !sessionName) {
    throw new TmuxError('command_failed', 'tmux did not say which pane it opened.', {
      mayHaveRun: true,
    });
  }
  const startTime = readProcessStartTime(Number(pid));
  return {
    paneId,
    sessionId,
    sessionName,
    pid: Number(pid),
    ...(startTime === undefined ? {} : { startTime }),
  };
}
