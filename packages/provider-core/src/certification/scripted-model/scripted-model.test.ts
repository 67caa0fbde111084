import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readModelLog } from './model-log.js';
import type { ModelWindow } from './model-request.js';
import { brokenStream, overloaded, rateLimited, unauthorized } from './scripted-failures.js';
import { type ScriptedModelOptions, startScriptedModel } from './scripted-model.js';
import { type ScriptedStep, scripted } from './scripted-step.js';
import { shellToolCall } from './shell-tool-call.js';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(options?: ScriptedModelOptions) {
  const model = await startScriptedModel(options);
  cleanups.push(model.stop);
  return model;
}

function sendClaude(baseUrl: string, step: ScriptedStep | string, stream = true) {
  const content = typeof step === 'string' ? step : scripted('Go.', step);
  const body = {
    model: 'm',
    stream,
    tools: [{ name: 'Bash' }],
    messages: [{ role: 'user', content }],
  };
  return fetch(`${baseUrl}/v1/messages?beta=true`, { method: 'POST', body: JSON.stringify(body) });
}

function sendCodex(baseUrl: string, step: ScriptedStep, stream = true) {
  const content = [{ type: 'input_text', text: scripted('Go.', step) }];
  const tools = [{ type: 'function', name: 'exec_command' }];
  const body = { model: 'm', stream, tools, input: [{ type: 'message', role: 'user', content }] };
  return fetch(`${baseUrl}/v1/responses`, { method: 'POST', body: JSON.stringify(body) });
}

async function readEvents(response: Response): Promise<readonly { readonly type: string }[]> {
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: '));
  return lines.map((line) => JSON.parse(line.slice('data: '.length)));
}

function createGate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe('the scripted model', () => {
  it('streams thinking, text and tool calls in Anthropic Messages', async () => {
    const { baseUrl } = await start();
    const tool = shellToolCall('anthropic-messages', 'ls');
    const step = {
      thinking: 'hm',
      text: 'ab🙂d',
      chunks: 2,
      tools: [tool],
      usage: { input: 7, cacheRead: 3 },
    };
    const events = await readEvents(await sendClaude(baseUrl, step));

    expect(events.filter(({ type }) => type === 'content_block_delta')).toMatchObject([
      { delta: { type: 'thinking_delta', thinking: 'hm' } },
      { delta: { type: 'signature_delta' } },
      { delta: { text: 'ab' } },
      { delta: { text: '🙂d' } },
      { delta: { partial_json: JSON.stringify(tool.input) } },
    ]);
    expect(events.at(-2)).toMatchObject({
      delta: { stop_reason: 'tool_use' },
      usage: { input_tokens: 7, cache_read_input_tokens: 3 },
    });
  });

  it('streams reasoning, text and tool calls in OpenAI Responses', async () => {
    const { baseUrl } = await start();
    const step = {
      thinking: 'hm',
      text: 'hello',
      tools: [shellToolCall('openai-responses', 'ls')],
    };
    const events = await readEvents(await sendCodex(baseUrl, step));

    expect(events.filter(({ type }) => type === 'response.output_item.done')).toMatchObject([
      { item: { type: 'reasoning' } },
      { item: { type: 'message', content: [{ text: 'hello' }] } },
      { item: { type: 'function_call', name: 'exec_command', arguments: '{"cmd":"ls"}' } },
    ]);
    expect(events.at(-1)).toMatchObject({ type: 'response.completed' });
    expect(events.map((event) => 'sequence_number' in event)).not.toContain(false);
  });

  it('answers whole when no stream is asked for, and counts tokens', async () => {
    const { baseUrl } = await start();
    const claude = await (await sendClaude(baseUrl, { text: 'hello' }, false)).json();
    const codex = await (await sendCodex(baseUrl, { text: 'hello' }, false)).json();
    const count = await fetch(`${baseUrl}/v1/messages/count_tokens`, {
      method: 'POST',
      body: '{}',
    });

    expect(claude).toMatchObject({ content: [{ text: 'hello' }], stop_reason: 'end_turn' });
    expect(codex).toMatchObject({ status: 'completed', output: [{ type: 'message' }] });
    expect(await count.json()).toEqual({ input_tokens: 10 });
  });

  it('answers whole and streamed in OpenAI chat and in Gemini too', async () => {
    const { baseUrl } = await start({ script: () => ({ text: 'ab', stop: 'max_tokens' }) });
    const post = (path: string, body: object) =>
      fetch(`${baseUrl}${path}`, { method: 'POST', body: JSON.stringify(body) });
    const chat = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };
    const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];
    const model = '/v1beta/models/m';

    expect(await (await post('/v1/chat/completions', chat)).json()).toMatchObject({
      choices: [{ message: { role: 'assistant', content: 'ab' }, finish_reason: 'length' }],
    });
    const streamed = await post('/v1/chat/completions', { ...chat, stream: true });
    expect((await streamed.text()).endsWith('data: [DONE]\n\n')).toBe(true);
    expect(await (await post(`${model}:generateContent`, { contents })).json()).toMatchObject({
      candidates: [{ content: { parts: [{ text: 'ab' }] }, finishReason: 'MAX_TOKENS' }],
    });
    const events = await (
      await post(`${model}:streamGenerateContent?alt=sse`, { contents })
    ).text();
    expect(events.startsWith('data: {')).toBe(true);
  });

  it('fails as scripted, in the form of each protocol', async () => {
    const { baseUrl } = await start();
    const limited = await sendClaude(baseUrl, rateLimited({ retryAfterSeconds: 3 }));

    expect((await sendClaude(baseUrl, unauthorized())).status).toBe(401);
    expect(limited.headers.get('retry-after')).toBe('3');
    expect(await limited.json()).toMatchObject({
      type: 'error',
      error: { type: 'rate_limit_error' },
    });
    expect(await (await sendCodex(baseUrl, overloaded())).json()).toMatchObject({
      error: { code: 'server_is_overloaded' },
    });
  });

  it('fails only the first attempts when told so', async () => {
    const { baseUrl } = await start();
    const step = { ...overloaded({ times: 2 }), text: 'at last' };
    const statuses = [];
    for (let attempt = 0; attempt < 3; attempt += 1) {
      statuses.push((await sendClaude(baseUrl, step)).status);
    }
    expect(statuses).toEqual([529, 529, 200]);
  });

  it('drops connections, breaks streams, and reports errors in the middle of one', async () => {
    const { baseUrl } = await start();
    await expect(sendClaude(baseUrl, { drop: true })).rejects.toThrow('fetch failed');

    const broken = await sendClaude(baseUrl, brokenStream('first half second half'));
    await expect(broken.text()).rejects.toThrow('terminated');

    const events = await readEvents(await sendCodex(baseUrl, { text: 'ab', midStreamError: 'x' }));
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: { error: { code: 'x' } },
    });
    const whole = await sendClaude(
      baseUrl,
      { text: 'ab', midStreamError: 'overloaded_error' },
      false,
    );
    expect(whole.status).toBe(529);
  });

  it('keeps its log over a restart on the same port', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'scripted-model-'));
    cleanups.push(() => rm(dir, { recursive: true }));
    const logFile = join(dir, 'model.jsonl');
    const first = await startScriptedModel({ logFile });
    await (await sendClaude(first.baseUrl, 'Hello\u2028there')).text();
    await first.stop();

    const second = await start({ logFile, port: first.port });
    await (await sendCodex(second.baseUrl, { text: 'x' })).text();

    const log = await readModelLog(logFile);
    expect(log.map(({ protocol }) => protocol)).toEqual(['anthropic-messages', 'openai-responses']);
    expect(log[0]).toEqual(first.requests()[0]);
    expect(second.requests()).toHaveLength(1);
  });

  it('scripts messages that carry no directive', async () => {
    const { baseUrl } = await start({ script: () => ({ text: 'From the harness.' }) });
    expect(await (await sendClaude(baseUrl, 'Hello', false)).text()).toContain('From the harness.');
  });
});

describe('the windows of an answer', () => {
  it('come in order, and the answer waits in each of them', async () => {
    const names: string[] = [];
    const ended = createGate();
    const { baseUrl, requests } = await start({
      onWindow: async ({ name }: ModelWindow) => {
        await Promise.resolve();
        names.push(name);
        if (name === 'after_end') ended.open();
      },
    });
    const step = { text: 'ab', tools: [shellToolCall('anthropic-messages', 'ls')] };
    await (await sendClaude(baseUrl, step)).text();
    await ended.opened;

    expect(names).toEqual([
      'at_request',
      'before_first_byte',
      'mid_stream',
      'after_tool_block',
      'after_end',
    ]);
    expect(requests()).toHaveLength(1);
  });

  it('have the bytes before them at the client, and none of those behind', async () => {
    const middle = createGate();
    const goOn = createGate();
    const { baseUrl } = await start({
      onWindow: async ({ name }) => {
        if (name !== 'mid_stream') return;
        middle.open();
        await goOn.opened;
      },
    });
    const response = await sendClaude(baseUrl, { text: 'front|back' });
    await middle.opened;
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let received = '';
    while (!received.includes('front')) received += (await reader?.read())?.value ?? '';

    expect(received).not.toContain('back');
    goOn.open();
    while (!received.includes('back')) received += (await reader?.read())?.value ?? '';
  });

  it('may stop the model', async () => {
    const model = await start({
      onWindow: ({ name }) => (name === 'mid_stream' ? model.stop() : undefined),
    });
    const response = await sendClaude(model.baseUrl, { text: 'never whole' });
    await expect(response.text()).rejects.toThrow('terminated');
  });

  it('that fail make stop fail with the same error', async () => {
    const model = await startScriptedModel({
      onWindow: () => {
        throw new TypeError('planted');
      },
    });
    await (await sendClaude(model.baseUrl, 'Hello')).text();
    await expect(model.stop()).rejects.toThrow('planted');
  });
});

describe('stopping', () => {
  it('ends an answer that hangs', async () => {
    const model = await start();
    const response = sendClaude(model.baseUrl, { hang: true });
    const failed = expect(response).rejects.toThrow('fetch failed');
    await model.waitForRequest(({ kind }) => kind === 'main', { deadlineMs: 10_000 });
    await model.stop();
    await failed;
  });
});
