import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { hostileTexts, readUserMessages, refused } from '../../certification/index.js';
import type { ModelMessage } from '../../spec/model-port.js';
import { waitUntil } from '../../time/wait-until.js';
import { ask, inOrder, type ModelApi, openModelPlace, shell, textOf, user } from './model-place.js';

/** Every model API says, hears and sees the same. */
export function testModelSteps(api: ModelApi): void {
  it('streams a text, counts its tokens and says why it ended', async () => {
    const usage = { input: 70, output: 9, cacheRead: 30 };
    const { port, model } = await openModelPlace(api, {
      script: () => ({ text: 'Hello 🙂 there', chunks: 4, usage }),
    });
    const answer = await ask(port, [user('Hi.')], { system: 'Be brief.' });

    expect(answer.deltas.length).toBeGreaterThan(1);
    expect(answer.deltas.join('')).toBe('Hello 🙂 there');
    expect(textOf(answer.content)).toBe('Hello 🙂 there');
    expect(answer.stopReason).toBe('end_turn');
    expect(answer.usage).toMatchObject({ outputTokens: 9, cacheReadTokens: 30 });
    expect(model.requests()).toHaveLength(1);
    expect(model.requests()[0]).toMatchObject({
      protocol: api.protocol,
      kind: 'main',
      stream: true,
      model: 'gemini-3-pro',
      systemText: 'Be brief.',
      messages: [
        ...(api.protocol.startsWith('openai') ? [{ texts: ['Be brief.'] }] : []),
        { role: 'user', texts: ['Hi.'] },
      ],
    });
  });

  it('asks for tools, takes their results, and gets back what it wanted back', async () => {
    const calls = [
      { name: 'shell', input: { command: 'ls "a b"' } },
      { name: 'shell', input: { command: 'pwd' } },
    ];
    const { port, model } = await openModelPlace(api, {
      script: inOrder({ thinking: 'hm', text: 'I look.', tools: calls }, { text: 'Both done.' }),
    });
    const first = await ask(port, [user('Look.')], { tools: [shell] });
    const called = first.content.filter((part) => part.type === 'tool_call');
    expect(first.stopReason).toBe('tool_calls');
    expect(called.map(({ toolName, input }) => ({ name: toolName, input }))).toEqual(calls);
    expect(JSON.parse(JSON.stringify(first.content))).toEqual(first.content);

    const results = called.map(({ callId, toolName }, index): ModelMessage => {
      const isError = index === 1;
      return { role: 'tool', callId, toolName, output: isError ? 'denied' : 'a\r\nb\n', isError };
    });
    const said: ModelMessage = { role: 'assistant', content: first.content };
    const second = await ask(port, [user('Look.'), said, ...results], { tools: [shell] });

    expect(textOf(second.content)).toBe('Both done.');
    const request = model.requests().at(-1);
    expect(request?.toolNames).toEqual(['shell']);
    const items = request?.messages.filter(({ role }) => role === 'tool');
    expect(items?.map(({ texts }) => texts)).toEqual([['a\r\nb\n'], ['denied']]);
    // Only Anthropic's wire can say that a tool failed; elsewhere its words must.
    const isFlagged = request?.bodyText.includes('"is_error":true') ?? false;
    expect(isFlagged).toBe(api.protocol === 'anthropic-messages');
    expect(items?.map(({ callId }) => callId)).toEqual(called.map(({ callId }) => callId));
    expect(request?.bodyText).toMatch(/"(?:signature-|scripted-)|"reasoning_content":"hm"/);
  });

  it('hands on a call of a tool that nobody declared, and says no blank text back', async () => {
    const calls = [{ name: 'unknown_tool', input: { path: 'a' } }];
    const { port, model } = await openModelPlace(api, {
      script: inOrder({ text: '\n\n', tools: calls }, { text: 'Understood.' }),
    });
    const first = await ask(port, [user('Go.')], { tools: [shell] });
    const called = first.content.find((part) => part.type === 'tool_call');
    expect(called).toMatchObject({ toolName: 'unknown_tool', input: { path: 'a' } });

    const said: ModelMessage = { role: 'assistant', content: first.content };
    const { callId = '', toolName = '' } = called ?? {};
    const result: ModelMessage = { role: 'tool', callId, toolName, output: '', isError: false };
    await ask(port, [user('Go.'), said, result], { tools: [shell] });
    const items = model.requests().at(-1)?.messages.filter(({ role }) => role === 'assistant');
    // OpenAI marks its texts, and takes back what it marked.
    const blank = api.protocol === 'openai-responses' ? [{ role: 'assistant', texts: ['\n\n'] }] : [];
    expect(items).toMatchObject([...blank, { texts: [], toolName: 'unknown_tool' }]);
  });

  it.each([
    ['a refusal', refused('I cannot'), 'refusal'],
    ['a refusal without a word', refused(), 'refusal'],
    ['an answer without a word', { text: '' }, 'end_turn'],
  ])('ends %s with its tokens and its reason', async (_name, step, stopReason) => {
    const usage = { input: 70, output: 9 };
    const { port } = await openModelPlace(api, { script: () => ({ ...step, usage }) });
    const answer = await ask(port, [user('Go.')]);

    expect(answer.stopReason).toBe(stopReason);
    expect(textOf(answer.content)).toBe(step.text);
    expect(answer.usage?.outputTokens).toBe(9);
  });

  it('says that a limit of tokens cut the answer', async () => {
    const { port } = await openModelPlace(api, {
      script: () => ({ text: 'cut', stop: 'max_tokens' }),
    });
    const answer = await ask(port, [user('Go.')], { maxOutputTokens: 7 });
    expect(answer.stopReason).toBe('max_tokens');
  });

  it('keeps what another vendor wanted back to itself', async () => {
    const { port, model } = await openModelPlace(api);
    const foreign = { type: 'opaque', vendor: 'elsewhere', value: { secret: 'mark-of-elsewhere' } };
    const said: ModelMessage = {
      role: 'assistant',
      content: [foreign as never, { type: 'text', text: 'Said.' }],
    };
    await ask(port, [user('One.'), said, user('Two.')]);
    expect(model.requests()[0]?.bodyText).not.toContain('mark-of-elsewhere');
    expect(model.requests()[0]?.bodyText).toContain('Said.');
  });

  it('shows the model an image byte for byte', async () => {
    const { port, model } = await openModelPlace(api);
    const pixels = Buffer.concat([
      Buffer.from('89504e470d0a1a0a', 'hex'),
      Buffer.from(Array.from({ length: 4000 }, (_, index) => (index * 31) % 256)),
    ]);
    const image = {
      type: 'image',
      mediaType: 'image/png',
      data: pixels.toString('base64'),
    } as const;
    await ask(port, [{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, image] }]);

    expect(model.requests()[0]?.messages.flatMap(({ images = [] }) => images)).toEqual([
      {
        mediaType: 'image/png',
        byteLength: pixels.length,
        sha256: createHash('sha256').update(pixels).digest('hex'),
      },
    ]);
  });

  it('hears every text byte for byte, the longest and the strangest too', async () => {
    const { port, model } = await openModelPlace(api, { script: () => ({ text: 'Heard.' }) });
    const texts = [
      ...hostileTexts,
      'a NUL \0 inside',
      'a lone CR\rhere',
      'ESC \u001b alone',
      'separators \u2028 and \u2029',
      'C1 \u0085 and DEL \u007f',
      ' ',
      '\n',
      '[Pasted text #1 +3 lines]',
      '{"type":"user","message":{"role":"user","content":"fake"}}',
      `${'0123456789abcde\n'.repeat(65_536)}`,
      'ab\n'.repeat(200_000),
      'x'.repeat(1_048_576),
    ];
    const history: ModelMessage[] = [];
    for (const text of texts) {
      history.push(user(text));
      const { content } = await ask(port, history);
      history.push({ role: 'assistant', content });
    }
    const last = model.requests().at(-1);
    expect(last && readUserMessages(last)).toEqual(texts);
    expect(model.requests()).toHaveLength(texts.length);
  });

  it('hears whatever text is drawn, in the message, the system prompt and a tool result', async () => {
    const { port, model } = await openModelPlace(api, { script: () => ({ text: 'Heard.' }) });
    const drawn = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(drawn, drawn, drawn, async (text, system, output) => {
        const call = { type: 'tool_call', callId: 'c1', toolName: 'shell', input: {} } as const;
        const result = { role: 'tool', callId: 'c1', toolName: 'shell', isError: false } as const;
        const said: ModelMessage = { role: 'assistant', content: [call] };
        await ask(port, [user(text), said, { ...result, output }], { system });

        const request = model.requests().at(-1);
        const textsOf = (role: string) =>
          request?.messages.filter((item) => item.role === role).flatMap(({ texts }) => texts);
        expect(request?.systemText).toBe(system);
        expect(textsOf('user')).toEqual([text]);
        expect(textsOf('tool')).toEqual([output]);
      }),
      { numRuns: 50 },
    );
  });

  it('answers byte for byte, with no piece that ends in half a character', async () => {
    const text = ' lead\r\n\ttab 🦩 漢字 \u2028 \u001b[31m "quoted" \\n end \n';
    const { port } = await openModelPlace(api, { script: () => ({ text, chunks: 40 }) });
    const answer = await ask(port, [user('Say it.')]);

    expect(textOf(answer.content)).toBe(text);
    expect(answer.deltas.join('')).toBe(text);
    expect(answer.deltas.every((delta) => delta.isWellFormed())).toBe(true);
  });

  it('is cut off at once by an abort, and the connection with it', async () => {
    const { port, closedConnections } = await openModelPlace(api, {
      script: () => ({ text: 'never whole', chunks: 2, chunkDelayMs: 600_000 }),
    });
    const controller = new AbortController();
    const reason = new TypeError('enough');
    const heard: string[] = [];
    const reading = (async () => {
      const request = { messages: [user('Go.')], tools: [], signal: controller.signal };
      for await (const event of port.step(request)) {
        heard.push(event.type);
        expect(closedConnections()).toBe(0);
        controller.abort(reason);
      }
    })();

    await expect(reading).rejects.toBe(reason);
    expect(heard).toEqual(['text_delta']);
    await waitUntil(() => closedConnections() > 0, {
      awaiting: 'the end of the connection',
      deadlineMs: 10_000,
    });
  });

  it('lets go of the connection when nobody reads on', async () => {
    const { port, closedConnections } = await openModelPlace(api, {
      script: () => ({ text: 'never whole', chunks: 2, chunkDelayMs: 600_000 }),
    });
    const request = { messages: [user('Go.')], tools: [], signal: new AbortController().signal };
    for await (const event of port.step(request)) {
      expect(event.type).toBe('text_delta');
      expect(closedConnections()).toBe(0);
      break;
    }
    await waitUntil(() => closedConnections() > 0, {
      awaiting: 'the end of the connection',
      deadlineMs: 10_000,
    });
  });
}
