import { type ShownPane, type ShowPaneRequest, sessionNameOf, showPane } from './shown-pane.js';

interface PaneOptions {
  readonly replace: boolean;
  /** Whether there is something to show by now; absent when there is. */
  readonly whenReady?: () => Promise<boolean>;
}

/** The pane of an open session, which comes while turns run already: it only shows. */
export class PaneView {
  readonly #request: Omit<ShowPaneRequest, 'replace'>;
  #pane: ShownPane | undefined;
  #pending: Promise<void> | undefined;
  #wanted: PaneOptions | undefined;
  #isOpening = false;

  constructor(request: Omit<ShowPaneRequest, 'replace'>, pane: ShownPane | undefined) {
    this.#request = request;
    this.#pane = pane;
  }

  /** While the pane is being opened, the name it is asked for: a name is a hint and never waited for. */
  get tmuxSession(): string | undefined {
    return this.#pane?.tmuxSession ?? (this.#isOpening ? sessionNameOf(this.#request) : undefined);
  }

  get terminalId(): string | undefined {
    return this.#pane?.terminalId;
  }

  /** Says that a pane is missing, or shows a server that is gone. It is opened when {@link show} is called. */
  want(options: PaneOptions): void {
    if (!this.#request.way.paneLaunch) return;
    if (this.#wanted || (this.#pane && !options.replace)) return;
    this.#wanted = options;
    this.#isOpening = true;
  }

  /** Opens the pane that is wanted. Later than the message went in: starting a terminal takes the processor from the turn. */
  show(): void {
    if (this.#pending || !this.#wanted) return;
    this.#pending = this.#open(this.#wanted).finally(() => {
      this.#isOpening = false;
    });
  }

  /** Resolves when no pane is being opened any more. */
  async settled(): Promise<void> {
    await this.#pending;
  }

  async #open({ replace, whenReady }: PaneOptions): Promise<void> {
    if (whenReady && !(await whenReady())) return;
    this.#pane = await showPane({ ...this.#request, replace });
  }
}
