import { describe, expect, it } from 'vitest';
import { spec } from './__fixtures__/fake-worker.js';
import { createWorkerEnvironment, ENDPOINT_KEY, secretsOf } from './worker-environment.js';

const own = {
  PATH: '/usr/bin',
  HOME: '/home/somebody',
  LC_ALL: 'C.UTF-8',
  SSH_AUTH_SOCK: '/run/agent',
  NODE_OPTIONS: '--require x',
  ANTHROPIC_API_KEY: 'a-key',
  ANTHROPIC_BASE_URL: 'https://other.example',
  OPENAI_API_KEY: 'o-key',
  CLAUDE_CODE_USE_BEDROCK: '1',
  RUNNER_KEY: 'r-key',
};
const withCli = (cli: object) => ({ ...spec, cli: { ...spec.cli, ...cli } });

describe('the environment of a worker', () => {
  it('is the allow list: nothing in it makes another pay or runs other code', () => {
    expect(createWorkerEnvironment(spec, own)).toEqual({
      PATH: '/usr/bin',
      HOME: '/home/somebody',
      LC_ALL: 'C.UTF-8',
    });
  });

  it('has exactly the variables that its spec names besides, under their own names', () => {
    const named = withCli({
      env: { ANTHROPIC_AUTH_TOKEN: { env: 'RUNNER_KEY' }, PLAIN: 'value' },
      endpoint: { baseUrl: 'http://127.0.0.1:1', apiKey: { env: 'OPENAI_API_KEY' } },
    });
    const environment = createWorkerEnvironment(named, own);
    expect(environment).toMatchObject({ RUNNER_KEY: 'r-key', OPENAI_API_KEY: 'o-key' });
    expect(Object.keys(environment)).toHaveLength(5);
    expect(secretsOf(named, own)).toEqual(['r-key', 'o-key']);
  });

  it('has a key of the runner itself by a variable that only its host sets', () => {
    const apiKey = { env: ENDPOINT_KEY };
    const named = withCli({ endpoint: { baseUrl: 'http://127.0.0.1:1', apiKey } });
    const told = { ...own, [ENDPOINT_KEY]: 'a-literal' };
    expect(createWorkerEnvironment(named, told)[ENDPOINT_KEY]).toBe('a-literal');
    expect(secretsOf(named, told)).toEqual(['a-literal']);
    expect(createWorkerEnvironment(spec, told)[ENDPOINT_KEY]).toBeUndefined();
    expect(() => createWorkerEnvironment(named, own)).toThrow(
      expect.objectContaining({ kind: 'runner_unfit' }),
    );
  });

  it('is refused where a spec holds what looks like a secret', () => {
    for (const name of [
      'SOME_API_KEY',
      'ACCESS_TOKEN',
      'my_secret',
      'DB_PASSWORD',
      'CREDENTIALS',
    ]) {
      const literal = withCli({ env: { [name]: 'a-value' } });
      expect(() => createWorkerEnvironment(literal, own)).toThrow(
        expect.objectContaining({
          kind: 'runner_unfit',
          message: expect.not.stringContaining('a-value'),
        }),
      );
    }
    const harmless = withCli({ env: { MAX_TOKENS: '5', KEYBOARD: 'de', EMPTY_TOKEN: '' } });
    expect(() => createWorkerEnvironment(harmless, own)).not.toThrow();
  });

  it('is refused where a spec names what would change the worker itself, or what is not there', () => {
    for (const env of ['NODE_OPTIONS', 'LD_PRELOAD', 'HOLDFAST_WORKER', 'NOT_THERE']) {
      expect(() => createWorkerEnvironment(withCli({ env: { X: { env } } }), own)).toThrow(
        expect.objectContaining({ kind: 'runner_unfit', message: expect.stringContaining(env) }),
      );
    }
  });
});
