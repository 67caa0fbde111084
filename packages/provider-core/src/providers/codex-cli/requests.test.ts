import { describe, expect, it } from 'vitest';
import type { ServedRequest } from '../../spec/served-pane.js';
import { readRequest } from './requests.js';

const of = { threadId: 'thread', turnId: 'turn' };

describe('an approval that the app-server asks for', () => {
  it('of a command has the id of its item, whichever connection it comes on', () => {
    const params = { ...of, itemId: 'call_1', command: 'touch x', cwd: '/w', reason: null };

    const [first, again] = [0, 7].map((id) =>
      read('item/commandExecution/requestApproval', params, id),
    );

    expect(first).toMatchObject({
      nativeSessionId: 'thread',
      nativeTurnId: 'turn',
      request: {
        type: 'approval',
        requestId: 'call_1',
        toolName: 'exec_command',
        input: { command: 'touch x', cwd: '/w' },
        detail: 'touch x',
      },
    });
    expect(again?.request).toEqual(first?.request);
  });

  it('is granted by allow alone, and not for an input that was changed', () => {
    const params = { ...of, itemId: 'call_1', command: 'touch x' };
    const { answer } = read('item/commandExecution/requestApproval', params);

    expect(answer({ decision: 'allow' })).toEqual({ decision: 'accept' });
    expect(answer({ decision: 'allow', updatedInput: { command: 'touch x' } })).toEqual({
      decision: 'accept',
    });
    expect(answer({ decision: 'allow', updatedInput: { command: 'touch y' } })).toEqual({
      decision: 'decline',
    });
    expect(answer({ decision: 'deny' })).toEqual({ decision: 'decline' });
    expect(answer({ decision: 'answer', answers: {} })).toEqual({ decision: 'decline' });
  });

  it('of one of several callbacks of an item is told apart', () => {
    const params = { ...of, itemId: 'call_1', approvalId: 'b', command: 'x' };

    expect(read('item/commandExecution/requestApproval', params).request.requestId).toBe(
      'call_1:b',
    );
  });

  it('of a change of files tells which, and is declined like a command', () => {
    const { request, answer } = read('item/fileChange/requestApproval', {
      ...of,
      itemId: 'call_2',
    });

    expect(request).toMatchObject({
      requestId: 'call_2',
      toolName: 'apply_patch',
      detail: '/w/file',
    });
    expect(request).toHaveProperty('input.changes.0.kind.type', 'add');
    expect(answer({ decision: 'deny' })).toEqual({ decision: 'decline' });
  });

  it('of more permissions grants what was asked, for the turn, or nothing', () => {
    const permissions = { network: { enabled: true }, fileSystem: null };
    const { answer } = read('item/permissions/requestApproval', {
      ...of,
      itemId: 'call_3',
      reason: 'need it',
      permissions,
    });

    expect(answer({ decision: 'allow' })).toEqual({
      permissions: { network: { enabled: true } },
      scope: 'turn',
    });
    expect(answer({ decision: 'deny' })).toEqual({ permissions: {}, scope: 'turn' });
  });
});

describe('a question that the app-server asks', () => {
  it('of the model has its choices, and takes the labels', () => {
    const { request, answer } = read('item/tool/requestUserInput', {
      ...of,
      itemId: 'call_4',
      questions: [{ id: 'q', question: 'Which?', options: [{ label: 'A', description: 'first' }] }],
    });

    expect(request).toEqual({
      type: 'question',
      requestId: 'call_4',
      questions: [
        {
          id: 'q',
          question: 'Which?',
          choices: [{ label: 'A', description: 'first' }],
          allowsSeveral: false,
        },
      ],
      detail: 'Which?',
    });
    expect(answer({ decision: 'answer', answers: { q: ['A'] } })).toEqual({
      answers: { q: { answers: ['A'] } },
    });
    expect(answer({ decision: 'deny' })).toEqual({ answers: {} });
  });

  it('of an MCP server is a form, filled in with the types it names', () => {
    const { request, answer } = elicit({
      name: { type: 'string', title: 'Name' },
      color: { type: 'string', enum: ['red', 'blue'] },
      age: { type: 'integer' },
      sure: { type: 'boolean' },
      tags: { type: 'array', items: { enum: ['a', 'b'] } },
    });

    expect(request).toMatchObject({
      type: 'question',
      detail: 'Tell me',
      questions: [
        { id: 'name', question: 'Name', choices: [] },
        { id: 'color', choices: [{ label: 'red' }, { label: 'blue' }] },
        { id: 'age' },
        { id: 'sure', choices: [{ label: 'yes' }, { label: 'no' }] },
        { id: 'tags', allowsSeveral: true },
      ],
    });
    const answers = { name: ['Ann'], age: ['7'], sure: ['no'], tags: ['a', 'b'] };
    expect(answer({ decision: 'answer', answers })).toEqual({
      action: 'accept',
      content: { name: 'Ann', age: 7, sure: false, tags: ['a', 'b'] },
      _meta: null,
    });
    expect(answer({ decision: 'deny' })).toMatchObject({ action: 'decline', content: null });
  });

  it('without a field only wants a yes', () => {
    const { request, answer } = elicit({});

    expect(request).toMatchObject({ type: 'approval', toolName: 'files' });
    expect(answer({ decision: 'allow' })).toMatchObject({ action: 'accept' });
    expect(answer({ decision: 'deny' })).toMatchObject({ action: 'decline' });
  });

  it('has the same id when it comes again, and another one when it is another', () => {
    const [one, again, other] = [elicit({}, 3), elicit({}, 3), elicit({}, 4)];

    expect(again.request.requestId).toBe(one.request.requestId);
    expect(other.request.requestId).not.toBe(one.request.requestId);
  });
});

describe('a request', () => {
  it('that no client of ours offers, or that cannot be read, has no answer of ours', () => {
    for (const method of ['item/tool/call', 'attestation/generate', 'execCommandApproval']) {
      expect(
        readRequest({ method, params: of, id: 1, toolInput: () => undefined }),
      ).toBeUndefined();
    }
    const method = 'item/commandExecution/requestApproval';
    expect(
      readRequest({ method, params: { threadId: 'thread' }, id: 1, toolInput: () => undefined }),
    ).toBeUndefined();
  });
});

function elicit(properties: Readonly<Record<string, unknown>>, id = 1): ServedRequest {
  const schema = { type: 'object', properties };
  const params = { ...of, serverName: 'files', message: 'Tell me', requestedSchema: schema };
  return read('mcpServer/elicitation/request', params, id);
}

function read(method: string, params: unknown, id = 1): ServedRequest {
  const changes = [{ path: '/w/file', kind: { type: 'add' } }];
  const toolInput = (callId: string) => (callId === 'call_2' ? changes : undefined);
  const request = readRequest({ method, params, id, toolInput });
  if (!request) throw new Error(`${method} was not read`);
  return request;
}
