import { expect, it } from 'vitest';
import {
  contextTooLong,
  historyRejected,
  modelNotFound,
  overloaded,
  rateLimited,
  type ScriptedStep,
  unauthorized,
} from '../../certification/index.js';
import { isTurnError } from '../../errors/turn-error.js';
import { ask, key, type ModelApi, openModelPlace, user } from './model-place.js';

type Expected = Readonly<Record<string, string>>;

/** Every model API fails with the same errors. */
export function testModelFailures(api: ModelApi): void {
  const { protocol } = api;
  const failures: readonly (readonly [string, ScriptedStep, Expected])[] = [
    ['a key that is not valid', unauthorized(), { kind: 'auth_required' }],
    ['a key that may not do this', { status: 403 }, { kind: 'auth_required' }],
    ['no capacity', overloaded({ protocol }), failed('overloaded')],
    ['a conversation that is too long', contextTooLong(protocol), failed('context_too_long')],
    ['a model that is not there', modelNotFound(protocol), failed('model_not_found')],
    ['a conversation that is not taken', historyRejected(protocol), { kind: 'history_rejected' }],
    ['a stream that breaks off', { text: 'half half', breakStream: true }, failed('broken_stream')],
    ['a connection without an answer', { drop: true }, failed('broken_stream')],
    ['an error in the stream', midStream(protocol), failed('overloaded')],
    ['a failure nobody knows', { status: 500, errorMessage: 'boom' }, failed('unknown')],
    ['a request that is wrong', { status: 400, errorMessage: 'no such field' }, failed('unknown')],
  ];

  it.each(failures)('tells %s', async (_name, step, expected) => {
    const { port, model } = await openModelPlace(api, { script: () => step });
    const error = await fail(() => ask(port, [user('Go.')]));

    expect(isTurnError(error)).toBe(true);
    expect(error).toMatchObject(expected);
    expect(`${error}${JSON.stringify(error)}`).not.toContain(key);
    expect(model.requests(), 'never asked twice').toHaveLength(1);
  });

  it('tells a limit with the instant at which it ends', async () => {
    const limit = rateLimited({ retryAfterSeconds: 3600, protocol });
    const { port, model } = await openModelPlace(api, { script: () => limit });
    const before = Date.now();
    const error = await fail(() => ask(port, [user('Go.')]));
    const after = Date.now();

    expect(error).toMatchObject({ kind: 'rate_limited' });
    const resetAt = Date.parse(String(Reflect.get(error, 'resetAt')));
    expect(resetAt).toBeGreaterThanOrEqual(before + 3_600_000);
    expect(resetAt).toBeLessThanOrEqual(after + 3_600_000);
    expect(model.requests(), 'never asked twice').toHaveLength(1);
  });

  it('tells a server that is not there', async () => {
    const { port, model } = await openModelPlace(api);
    await model.stop();
    expect(await fail(() => ask(port, [user('Go.')]))).toMatchObject(failed('broken_stream'));
  });

  it('refuses half of an emoji before anything is sent (B36)', async () => {
    const { port, model } = await openModelPlace(api);
    const error = await fail(() => ask(port, [user('cut \ud83d here')]));

    expect(error).toMatchObject({ kind: 'undeliverable_message', reason: 'ill_formed_text' });
    expect(model.requests()).toEqual([]);
  });

  it('refuses a message without content, and an abort that came before', async () => {
    const { port, model } = await openModelPlace(api);
    expect(await fail(() => ask(port, [user('')]))).toMatchObject({ reason: 'empty_message' });

    const reason = new TypeError('too late');
    const signal = AbortSignal.abort(reason);
    await expect(ask(port, [user('Go.')], { signal })).rejects.toBe(reason);
    expect(model.requests()).toEqual([]);
  });

  it('leaves the key out of what a server repeats', async () => {
    const step = { status: 401, errorMessage: `Incorrect key provided: ${key}.` };
    const { port } = await openModelPlace(api, { script: () => step });
    const error = await fail(() => ask(port, [user('Go.')]));

    expect(error.message).toContain('Incorrect key provided: (the key).');
    expect(JSON.stringify(error)).not.toContain(key);
  });

  it('takes no history with a call that has no result', async () => {
    const { port, model } = await openModelPlace(api);
    const call = { type: 'tool_call', callId: 'c1', toolName: 'shell', input: {} } as const;
    const history = [user('Go.'), { role: 'assistant', content: [call] } as const, user('On.')];

    expect(await fail(() => ask(port, history))).toMatchObject({ kind: 'history_rejected' });
    expect(model.requests()).toEqual([]);
  });

  it('reads its key when it is used, and says which variable is empty', async () => {
    const { model } = await openModelPlace(api);
    const baseUrl = `${model.baseUrl}${api.path}`;
    const port = await api.definition.openModel({
      model: 'm',
      apiKey: { env: 'HOLDFAST_TEST_NO_SUCH_KEY' },
      baseUrl,
    });
    expect(await fail(() => ask(port, [user('Go.')]))).toMatchObject({
      kind: 'auth_required',
      message: expect.stringContaining('HOLDFAST_TEST_NO_SUCH_KEY'),
    });

    process.env['HOLDFAST_TEST_NO_SUCH_KEY'] = key;
    try {
      await ask(port, [user('Go.')]);
    } finally {
      delete process.env['HOLDFAST_TEST_NO_SUCH_KEY'];
    }
    expect(model.requests()).toHaveLength(1);
  });
}

function failed(reason: string): Expected {
  return { kind: 'provider_failed', reason };
}

function midStream(protocol: ModelApi['protocol']): ScriptedStep {
  const types = {
    'anthropic-messages': 'overloaded_error',
    'openai-responses': 'server_is_overloaded',
    'openai-chat': 'service_unavailable',
    gemini: 'UNAVAILABLE',
  };
  return { text: 'half half', midStreamError: types[protocol] };
}

async function fail(act: () => Promise<unknown>): Promise<Error> {
  try {
    await act();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new TypeError('It did not fail.');
}
