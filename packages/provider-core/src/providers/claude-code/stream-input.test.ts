import { describe, expect, it } from 'vitest';
import { planMessage, streamWriter } from './stream-input.js';
import { launchAsStream } from './stream-process.js';

const plan = (text: string, cliVersion = '2.1.332') =>
  planMessage({ id: 'turn', text, images: [], cliVersion });

function readContent(text: string): unknown {
  const planned = plan(text);
  return planned.kind === 'line' ? JSON.parse(planned.line).message.content : planned.reason;
}

describe('planMessage', () => {
  it.each([
    'tab\t',
    '\u001b[31m',
    '\0',
    'a\r\nb',
    '!ls',
    '#memo',
    'exit',
    '- x',
    'ends\\',
    ' outer ',
    'a\u2028b',
    '//x',
    '/a/b',
    '/ x',
    '/é',
    '/foo.',
    '/compact!',
    'é',
    '/tmp/x.png',
    '\u001b[200~pasted\u001b[201~',
  ])('puts %j in as it is', (text) => {
    expect(readContent(text)).toBe(text);
  });

  it.each([
    ['/help', 'slash_command'],
    ['/mcp__x y', 'slash_command'],
    ['/foo:bar\nmore', 'slash_command'],
    ['half \ud800 pair', 'malformed_unicode'],
    ['@agent-general hi', 'resource_mention'],
    ['', 'empty'],
  ])('refuses %j', (text, reason) => {
    expect(readContent(text)).toBe(reason);
  });

  it('refuses a blank text where the version would not send it', () => {
    expect(plan(' \n', '2.1.332').kind).toBe('refused');
    expect(plan(' \n', '2.1.197').kind).toBe('line');
  });

  it('stands on one line, with the id of the turn', () => {
    const planned = plan('two\nlines');
    if (planned.kind !== 'line') throw new Error('unreachable: it is exact');
    expect(planned.line).not.toContain('\n');
    expect(JSON.parse(planned.line)).toMatchObject({ type: 'user', uuid: 'turn' });
  });

  it('takes the images that the model takes, and no others', () => {
    const withImage = (mediaType: string) =>
      planMessage({
        id: 'turn',
        text: '',
        images: [{ type: 'image', mediaType, data: 'AA==' }],
        cliVersion: '2.1.332',
      });
    expect(withImage('image/png').kind).toBe('line');
    expect(withImage('image/bmp')).toMatchObject({ kind: 'refused', reason: 'image_type' });
  });

  it('names the paths that the CLI would read', () => {
    expect(plan('see @notes.txt, please')).toMatchObject({
      mentionedPaths: ['notes.txt,', 'notes.txt'],
    });
  });
});

describe('streamWriter', () => {
  it('names each request, and the mode in the words of the CLI', () => {
    expect(JSON.parse(streamWriter.setPermissions('r', 'read_only'))).toEqual({
      type: 'control_request',
      request_id: 'r',
      request: { subtype: 'set_permission_mode', mode: 'plan' },
    });
  });
});

describe('launchAsStream', () => {
  const request = {
    config: { workingDir: '/work', systemPrompt: 'Be brief.' },
    cliVersion: '2.1.332',
    cliHome: '/home/cli',
    nativeSessionId: 'id',
    resume: true,
    finishInterruptedTurn: true,
    filesDir: '/files',
  };

  it('repeats what a resume loses, and asks for the cut-off turn only when told to', () => {
    const { args, env } = launchAsStream(request);
    expect(args).toEqual(
      expect.arrayContaining(['--resume', 'id', '--permission-mode', 'default']),
    );
    expect(args).toContain('--append-system-prompt-file');
    expect(args.join(' ')).not.toContain('Be brief.');
    expect(env).toMatchObject({ CLAUDE_CODE_RESUME_INTERRUPTED_TURN: '1' });
    const plain = launchAsStream({ ...request, finishInterruptedTurn: false });
    expect(plain.env).not.toHaveProperty('CLAUDE_CODE_RESUME_INTERRUPTED_TURN');
  });

  it('keeps the hooks that hold a tool back and that ask, and none that a pane needs', () => {
    const settings = launchAsStream(request).files.find(({ name }) => name === 'settings.json');
    const { hooks } = JSON.parse(settings?.content ?? '{}');
    expect(Object.keys(hooks).sort()).toEqual(['PermissionRequest', 'PreToolUse', 'SessionStart']);
  });
});
