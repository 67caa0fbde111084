import { describe, expect, it } from 'vitest';
import { anthropicMessages } from './anthropic-messages.js';
import { readUserMessages } from './user-messages.js';

const mainSystem = [
  { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.332.e92; cc_entrypoint=cli;' },
  { type: 'text', text: 'You are Claude Code.' },
];
const tools = [{ name: 'Bash' }, { name: 'Read' }];

function readBody(body: object, path = '/v1/messages') {
  const bodyText = JSON.stringify({ system: mainSystem, tools, stream: true, ...body });
  return anthropicMessages.readRequest({ id: '1', at: '2026-01-01T00:00:00.000Z', path, bodyText });
}

const text = (value: string) => ({ type: 'text', text: value });

describe('a request of Claude Code', () => {
  it('is read with its session, system text, tools, and each tool result as an item', () => {
    const request = readBody({
      model: 'claude-x',
      metadata: { user_id: '{"device_id":"d","session_id":"11111111-1111"}' },
      messages: [
        {
          role: 'user',
          content: [text('<system-reminder>\nDate\n</system-reminder>\n\n'), text('Run.')],
        },
        { role: 'system', content: 'Available agents' },
        {
          role: 'assistant',
          content: [text('Yes.'), { type: 'tool_use', id: 't1', name: 'Bash' }],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'done' }] },
      ],
    });

    expect(request).toMatchObject({
      kind: 'main',
      model: 'claude-x',
      nativeSessionId: '11111111-1111',
    });
    expect(request.toolNames).toEqual(['Bash', 'Read']);
    expect(request.systemText).toContain('You are Claude Code.\nAvailable agents');
    expect(request.messages.slice(2)).toEqual([
      { role: 'assistant', texts: ['Yes.'] },
      { role: 'assistant', texts: [], callId: 't1', toolName: 'Bash' },
      { role: 'tool', texts: ['done'], callId: 't1' },
    ]);
    expect(readUserMessages(request)).toEqual(['Run.']);
  });

  it('is told apart from titles, compactions, subagents and token counts', () => {
    const ask = (value: string) => ({ messages: [{ role: 'user', content: [text(value)] }] });
    const subagent = [text('x-anthropic-billing-header: cc_entrypoint=cli; cc_is_subagent=true;')];
    const compaction = 'CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n\n- Do NOT use';

    expect(readBody(ask('Hello')).kind).toBe('main');
    expect(readBody({ ...ask('<session>\nHello'), tools: [] }).sideReason).toBe('no_tools');
    expect(readBody(ask(compaction)).sideReason).toBe('compaction');
    expect(readBody({ ...ask('Look'), system: subagent }).sideReason).toBe('subagent');
    expect(readBody(ask('Hello'), '/v1/messages/count_tokens').sideReason).toBe('token_count');
  });

  it('gives merged user messages back one by one, without the newline that joined them', () => {
    const request = readBody({
      messages: [
        { role: 'user', content: [text('failed one\n'), text('queued\n\n'), text('last\n')] },
      ],
    });
    expect(readUserMessages(request)).toEqual(['failed one', 'queued\n', 'last\n']);
  });

  it('leaves out what the CLI wrote under the name of the user', () => {
    const request = readBody({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't1', content: 'rejected' },
            text('[Request interrupted by user for tool use]\n'),
            text('<command-name>/compact</command-name>\n <command-args></command-args>\n'),
            text('The user sent a new message while you were working:\nhurry\n\nThis is how'),
            text('<bash-input>ls</bash-input>\n'),
            text('<pasted_content id="1">\nkept\n</pasted_content id="1">\n'),
          ],
        },
      ],
    });
    expect(request.messages.map(({ role }) => role)).toEqual(['tool', 'user']);
    expect(readUserMessages(request)).toEqual([
      '<pasted_content id="1">\nkept\n</pasted_content id="1">\n',
    ]);
  });
});
