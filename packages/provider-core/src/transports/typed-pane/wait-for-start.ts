import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { StaleHandleError } from '../../errors/continuation-error.js';
import { BlockedError, CliUnusableError, TimedOutError } from '../../errors/turn-error.js';
import type { PaneScreen, PaneSignal } from '../../spec/typed-pane.js';
import { followJsonLines } from '../../state/follow-json-lines.js';
import type { OpenRequest } from '../session-transport.js';
import { answerPage } from './answer-page.js';
import { STDERR_FILE } from './launch-pane.js';
import { type LivePane, readPaneProcess, readPaneScreen } from './live-pane.js';
import { nativeIdOf, spoolPath } from './session-files.js';

/** Until the CLI's hook has spoken, whose line wakes us, the screen is looked at for pages alone. */
const FAR_POLL_MS = 100;
/** From then on the composer is a moment away. */
const NEAR_POLL_MS = 10;
/** A page counts once it has stood unchanged for this long: a screen under construction may look like one. */
const STABLE_MS = 500;

/** What the CLI told of its start. */
export interface StartReport {
  readonly model?: string | undefined;
  readonly workingDir?: string | undefined;
}

/**
 * Waits until the CLI has said that its session is open and its composer is there. Answers a page only where the caller
 * allowed it; any other page is `blocked` with nothing pressed.
 */
export async function waitForStart(
  pane: LivePane,
  { deadlineMs, signal, emit }: Pick<OpenRequest, 'deadlineMs' | 'signal' | 'emit'>,
): Promise<StartReport> {
  const { clock } = pane.context;
  using signs = new ArrivingSigns(pane);
  const page = new StablePage();
  let report: StartReport | undefined;
  let end = clock.monotonicMs() + deadlineMs;
  for (;;) {
    signal.throwIfAborted();
    for (const sign of signs.take()) {
      report = readStart(pane, sign) ?? report;
      // A compaction takes as long as the model needs.
      if (emitCompaction(sign, emit)) end = clock.monotonicMs() + deadlineMs;
    }
    await checkRuns(pane);
    const registered = await checkIdentity(pane);
    const screen = await readPaneScreen(pane);
    if (screen.state === 'composer' && registered && report) return report;
    if (page.isStable(screen, clock.monotonicMs())) await meetPage(pane, screen);
    if (clock.monotonicMs() >= end) {
      throw registered && screen.state === 'composer'
        ? withoutHooks(pane)
        : missedStart(screen, deadlineMs);
    }
    await signs.next(report ? NEAR_POLL_MS : FAR_POLL_MS, signal);
  }
}

/** What the hooks write down, as it comes. */
class ArrivingSigns implements Disposable {
  readonly #pane: LivePane;
  readonly #stop = new AbortController();
  #signs: PaneSignal[] = [];
  #failure: unknown;
  #wake: (() => void) | undefined;

  constructor(pane: LivePane) {
    this.#pane = pane;
    this.#follow().catch((error: unknown) => {
      this.#failure = error;
    });
  }

  take(): readonly PaneSignal[] {
    if (this.#failure !== undefined) throw this.#failure;
    const signs = this.#signs;
    this.#signs = [];
    return signs;
  }

  /** Resolves at the next sign, or after a while; at once when one has come already. */
  async next(ms: number, signal: AbortSignal): Promise<void> {
    if (this.#signs.length > 0) return;
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    const either = AbortSignal.any([signal, woken.signal]);
    await this.#pane.context.clock.sleep(ms, either).catch(() => undefined);
    this.#wake = undefined;
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
  }

  async #follow(): Promise<void> {
    const { way, context } = this.#pane;
    const lines = followJsonLines(spoolPath(way, context), { signal: this.#stop.signal });
    for await (const line of lines) {
      const sign = line.replaced ? undefined : way.readSignal(line.value);
      if (!sign) continue;
      this.#signs.push(sign);
      this.#wake?.();
    }
  }
}

class StablePage {
  #text = '';
  #since = 0;

  isStable(screen: PaneScreen, now: number): screen is Extract<PaneScreen, { state: 'page' }> {
    const text = screen.state === 'page' ? screen.text : '';
    if (text !== this.#text) this.#since = now;
    this.#text = text;
    return screen.state === 'page' && now - this.#since >= STABLE_MS;
  }
}

function readStart(pane: LivePane, sign: PaneSignal): StartReport | undefined {
  if (sign.type !== 'session_started') return undefined;
  checkSameId(pane, sign.nativeSessionId);
  return { model: sign.model, workingDir: sign.workingDir };
}

function emitCompaction(sign: PaneSignal, emit: OpenRequest['emit']): boolean {
  if (sign.type !== 'record') return false;
  const { type } = sign.event;
  if (type !== 'compaction_started' && type !== 'compaction_finished') return false;
  emit({ type });
  return true;
}

/** Whether the CLI's registry names the process; another session in it is never ours. */
async function checkIdentity(pane: LivePane): Promise<boolean> {
  const registered = await readPaneProcess(pane);
  if (!registered) return false;
  checkSameId(pane, registered.nativeSessionId);
  return true;
}

function checkSameId({ context }: LivePane, found: string): void {
  if (found === nativeIdOf(context)) return;
  throw new StaleHandleError(context.definition.id, 'native_session_id', {
    old: nativeIdOf(context),
    new: found,
  });
}

async function checkRuns({ server, context, paneId }: LivePane): Promise<void> {
  const found = await server.findPane({ nonce: context.nonce });
  if (found.state === 'unknown' || (found.state === 'present' && !found.dead)) return;
  const screen =
    found.state === 'present' ? await server.capture(paneId, { historyLines: 50 }) : '';
  const said = await readFile(join(context.filesDir, STDERR_FILE), 'utf8').catch(() => '');
  if (found.state === 'present') await server.killPane(paneId);
  throw new CliUnusableError(context.binary, 'exited', describeEnd(screen, said));
}

function describeEnd(screen: string, said: string): string {
  const text = stripVTControlCharacters(`${said}\n${screen}`)
    .replace(/^Pane is dead.*$/m, '')
    .replace(/\s+/g, ' ')
    .trim();
  return `it ended as it was started${text === '' ? ' and said nothing' : `: ${text.slice(-500)}`}`;
}

async function meetPage(
  pane: LivePane,
  page: Extract<PaneScreen, { state: 'page' }>,
): Promise<void> {
  const isAllowed =
    page.answer?.needs === 'trust_working_dir' && pane.context.config.trustWorkingDir === true;
  if (!page.answer || !isAllowed) throw new BlockedError(page.dialog, page.text);
  await answerPage(pane, page);
}

/** Without its hooks nothing proves a message; a setting of the user's can switch them off. */
function withoutHooks({ context }: LivePane): Error {
  const detail =
    'it is up, but runs none of our hooks. Remove what disables hooks in its settings.';
  return new CliUnusableError(context.binary, 'unresponsive', detail);
}

function missedStart(screen: PaneScreen, limitMs: number): Error {
  if (screen.state === 'page') return new BlockedError(screen.dialog, screen.text);
  if (screen.state === 'unreadable' && screen.text.trim() !== '') {
    return new BlockedError('unknown', screen.text);
  }
  return new TimedOutError({ awaiting: 'the CLI to start', limitMs, layer: 'typed-pane' });
}
