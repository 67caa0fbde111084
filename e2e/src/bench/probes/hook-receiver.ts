import { once } from 'node:events';
import { createServer, type Server } from 'node:http';

/** Receives http hooks on a loopback port. */
export class HookReceiver implements AsyncDisposable {
  readonly #server: Server;
  readonly #listeners = new Set<(body: string) => void>();

  private constructor() {
    this.#server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
      let body = '';
      request.setEncoding('utf8');
      request.on('data', (text: string) => {
        body += text;
      });
      request.on('end', () => {
        for (const listener of this.#listeners) listener(body);
        response.setHeader('content-type', 'application/json').end('{}');
      });
    });
  }

  /** Listens on a free port. */
  static async listen(): Promise<HookReceiver> {
    const receiver = new HookReceiver();
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string')
      throw new Error('The receiver has no port.');
    return `http://127.0.0.1:${address.port}/hook`;
  }

  /** Resolves with the moment at which a hook holds the text. */
  awaitText(text: string): { readonly at: Promise<number>; readonly stop: () => void } {
    let listener: (body: string) => void = () => {};
    const at = new Promise<number>((resolve) => {
      listener = (body) => {
        if (body.includes(text)) resolve(performance.now());
      };
    });
    this.#listeners.add(listener);
    return { at, stop: () => this.#listeners.delete(listener) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
