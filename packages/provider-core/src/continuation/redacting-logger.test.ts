import { pino } from 'pino';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { SessionConfig } from '../spec/session-config.js';
import { HiddenTexts, redactingLogger } from './redacting-logger.js';

afterEach(() => vi.unstubAllEnvs());

const config: SessionConfig = {
  workingDir: '/somewhere',
  systemPrompt: 'speak like a pirate',
  endpoint: { baseUrl: 'http://127.0.0.1:1', apiKey: { env: 'GATEWAY_KEY' } },
  env: { TOKEN: 'token-in-env', MODE: 'on' },
  mcpServers: {
    local: { command: 'server', env: { SECRET: 'mcp-env-value' } },
    remote: { url: 'http://127.0.0.1:2', headers: { authorization: 'Bearer mcp-header' } },
  },
};
const secrets = [
  'speak like a pirate',
  'gateway-key-value',
  'token-in-env',
  'mcp-env-value',
  'Bearer mcp-header',
  'my private message',
];

function logInto(write: (logger: ReturnType<typeof redactingLogger>) => void): string {
  vi.stubEnv('GATEWAY_KEY', 'gateway-key-value');
  const lines: string[] = [];
  const hidden = new HiddenTexts(config);
  hidden.add('my private message');
  const destination = { write: (line: string) => lines.push(line) };
  write(redactingLogger(pino({ level: 'debug' }, destination), hidden));
  return lines.join('');
}

describe('what a caller’s logger gets', () => {
  it.each(secrets)('never holds a text, a variable or a key (%s)', (secret) => {
    const logged = logInto((logger) => {
      const error = Object.assign(new TypeError(`exit: ${secret}`, { cause: new Error(secret) }), {
        stderr: `said ${secret}`,
      });
      logger.warn({ err: error, nested: { list: [secret, { deep: secret }] } }, `it: ${secret}`);
      logger.child({ argument: secret }).info({}, 'child');
      for (const level of ['debug', 'info', 'warn', 'error'] as const) {
        logger[level]({ secret }, secret);
      }
    });
    expect(logged).not.toContain(secret);
    expect(logged).toContain('[redacted]');
  });

  it('still tells what happened', () => {
    const logged = logInto((logger) =>
      logger.child({ provider: 'p' }).warn({ err: new TypeError('exit 3') }, 'pane not closed'),
    );
    expect(JSON.parse(logged)).toMatchObject({
      provider: 'p',
      msg: 'pane not closed',
      err: { type: 'TypeError', message: 'exit 3' },
    });
  });

  it('hides a text that holds another one whole', () => {
    const hidden = new HiddenTexts(config);
    hidden.add('my private message');
    hidden.add('private');
    expect(hidden.hide('it is my private message')).toBe('it is [redacted]');
  });
});
