import { describe, expect, it } from 'vitest';
import { gemini } from './gemini.js';
import { readUserMessages } from './user-messages.js';

function readBody(body: object, method = 'streamGenerateContent') {
  const path = `/v1beta/models/gemini-x:${method}`;
  return gemini.readRequest({ id: '1', at: '', path, bodyText: JSON.stringify(body) });
}

describe('a request of a Gemini client', () => {
  it('is read with its roles, its calls and their results, and its images', () => {
    const request = readBody({
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      tools: [{ functionDeclarations: [{ name: 'shell' }] }],
      contents: [
        { role: 'user', parts: [{ text: ' Look.\n' }] },
        {
          role: 'model',
          parts: [
            { text: 'hm', thought: true },
            { text: 'Yes.' },
            { functionCall: { id: 'c1', name: 'shell', args: {} } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'c1', name: 'shell', response: { content: 'done\r\n' } } },
            { inlineData: { mimeType: 'image/png', data: 'AAEC' } },
          ],
        },
      ],
    });

    expect(request).toMatchObject({ kind: 'main', model: 'gemini-x', stream: true });
    expect(request.systemText).toBe('Be brief.');
    expect(request.toolNames).toEqual(['shell']);
    expect(request.messages).toEqual([
      { role: 'user', texts: [' Look.\n'] },
      { role: 'assistant', texts: ['Yes.'] },
      { role: 'assistant', texts: [], callId: 'c1', toolName: 'shell' },
      { role: 'tool', texts: ['done\r\n'], callId: 'c1' },
      {
        role: 'user',
        texts: [],
        images: [expect.objectContaining({ mediaType: 'image/png', byteLength: 3 })],
      },
    ]);
    expect(readUserMessages(request)).toEqual([' Look.\n']);
  });

  it('tells by its path whether it is streamed, whole, or a count', () => {
    expect(readBody({}, 'generateContent')).toMatchObject({ kind: 'main', stream: false });
    expect(readBody({}, 'countTokens').sideReason).toBe('token_count');
    expect(gemini.isPath('/v1beta/models/gemini-x:embedContent')).toBe(false);
  });
});
