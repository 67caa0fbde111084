import { type ShownPane, type ShowPaneRequest, sessionNameOf, showPane } from './shown-pane.js';

/** The pane of an open session, which comes while turns run already: it only shows. */
export class PaneView {
  readonly #request: Omit<ShowPaneRequest, 'replace'>;
  #pane: ShownPane | undefined;
  #pending: Promise<void> | undefined;
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

  /** Opens the pane once `whenReady` says that there is something to show. Asked again, it does nothing. */
  show(options: { readonly replace: boolean; readonly whenReady?: () => Promise<boolean> }): void {
    if (this.#pending || (this.#pane && !options.replace)) return;
    this.#isOpening = true;
    this.#pending = this.#open(options).finally(() => {
      this.#isOpening = false;
    });
  }

  /** Resolves when no pane is being opened any more. */
  async settled(): Promise<void> {
    await this.#pending;
  }

  async #open({
    replace,
    whenReady,
  }: {
    readonly replace: boolean;
    readonly whenReady?: () => Promise<boolean>;
  }): Promise<void> {
    if (whenReady && !(await whenReady())) return;
    this.#pane = await showPane({ ...this.#request, replace });
  }
}
