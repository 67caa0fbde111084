import { describe, expect, it } from 'vitest';
import type { CodingPlanRequest } from '../../spec/coding-adapter.js';
import { codingAdapter } from './coding-adapter.js';
import { launchAsStream } from './stream-process.js';

const request: CodingPlanRequest = {
  role: 'implement',
  workTree: '/threads/one/work',
  scratch: '/threads/one/scratch',
  writableRoots: ['/threads/one/work/src'],
  ownFolders: ['/threads/one/state', '/home/user/cli'],
  hiddenFolders: ['/threads', '/records'],
  permissions: { source: 'agent-policy', mode: 'dontAsk' },
};
const confined = { ...request, bubblewrap: '/usr/bin/bwrap' };
const review = { role: 'review', writableRoots: [] } as const;

const planOf = (given: CodingPlanRequest) => codingAdapter.plan(given);
const launcherOf = (given: CodingPlanRequest) =>
  (planOf(given).config.launcher ?? [])
    .join(' ')
    .replaceAll(/ (--(?:ro-)?bind) (\S+) \2/g, ' $1 $2');

describe('a coding session of Claude Code', () => {
  it('has a read-only root, where only its own places can be written', () => {
    expect(launcherOf(confined)).toBe(
      [
        '/usr/bin/bwrap --die-with-parent --unshare-user-try --unshare-ipc --cap-drop ALL',
        '--ro-bind / --dev /dev --tmpfs /tmp --tmpfs /threads --tmpfs /records',
        '--ro-bind /threads/one/work --bind /threads/one/scratch --bind /threads/one/state',
        '--bind /home/user/cli --bind /threads/one/work/src --',
      ].join(' '),
    );
  });

  it('as a reviewer writes its scratch folder alone', () => {
    const launcher = launcherOf({ ...confined, ...review, writableRoots: ['/threads/one/work'] });

    expect(launcher).toContain('--ro-bind /threads/one/work ');
    expect(launcher).not.toContain(' --bind /threads/one/work');
    expect(planOf({ ...confined, ...review }).config.workingDir).toBe('/threads/one/scratch');
  });

  it('has no private /tmp where one of its places stands in there', () => {
    const inTmp = { ...confined, scratch: '/tmp/one/scratch' };

    expect(launcherOf(inTmp)).not.toContain('--tmpfs /tmp');
    expect(planOf(inTmp).config.env).toMatchObject({ TMPDIR: '/tmp/one/scratch' });
    expect(planOf(confined).config.env).toMatchObject({ TMPDIR: '/tmp' });
  });

  it('may run commands unasked where a namespace bounds them, or an implementer needs them', () => {
    const allowed = (given: CodingPlanRequest) => planOf(given).config.toolPolicy;
    const reads = 'Read(//threads/one/work/**)';

    expect(allowed(confined)).toMatchObject({ permissions: 'edit', allow: ['Bash'] });
    expect(allowed({ ...confined, ...review })).toMatchObject({
      permissions: 'edit',
      allow: ['Bash', reads],
    });
    expect(allowed({ ...request, ...review })).toMatchObject({
      permissions: 'ask',
      allow: [reads],
      deny: expect.arrayContaining(['Bash', 'Edit', 'Write']),
    });
  });

  it('says what nothing enforces', () => {
    expect(planOf(request).unenforced).toEqual([
      'commands may write, read and reach all that the user may',
    ]);
    expect(planOf({ ...request, ...review }).unenforced).toEqual([]);
    expect(planOf(confined).unenforced).toContain('commands may use the network');
    expect(planOf(confined).unenforced).toContainEqual(expect.stringContaining('socket'));
  });

  it.each([
    ['inherit', 'full', true],
    ['dontAsk', 'ask', undefined],
    ['bypassPermissions', 'full', undefined],
  ])('in the owner’s mode %s asks for %s', (mode, permissions, inherit) => {
    const { config } = planOf({ ...confined, permissions: { source: 'claude-cli', mode } });

    expect(config.toolPolicy).toEqual({ permissions, ...(inherit ? { inherit } : {}) });
    expect(config.launcher).toBeDefined();
  });

  it('hands the schema of its answer on', () => {
    const outputSchema = { type: 'object' };

    expect(planOf({ ...request, outputSchema }).config).toMatchObject({ outputSchema });
    expect(planOf(request).config).not.toHaveProperty('outputSchema');
  });

  it('refuses a mode that its source does not have', () => {
    const permissions = { source: 'agent-policy', mode: 'inherit' };

    expect(() => planOf({ ...request, permissions })).toThrow(TypeError);
    expect(() => planOf({ ...request, permissions: { source: '', mode: '' } })).toThrow(TypeError);
  });
});

describe('the launch of a coding session', () => {
  const launch = (given: CodingPlanRequest) =>
    launchAsStream({
      config: planOf(given).config,
      cliVersion: '2.1.332',
      cliHome: '/home/user/cli',
      nativeSessionId: '0e1f2a3b-0000-4000-8000-000000000001',
      resume: true,
      finishInterruptedTurn: false,
      filesDir: '/threads/one/state/files',
    });

  it('names a mode unless it is left to the owner', () => {
    const inherit = { source: 'claude-cli', mode: 'inherit' };
    const inherited = launch({ ...confined, permissions: inherit });

    expect(launch(confined).args.join(' ')).toContain('--permission-mode acceptEdits');
    expect(inherited.args).not.toContain('--permission-mode');
    expect(inherited.files.find(({ name }) => name === 'settings.json')?.content).not.toContain(
      'skipDangerousModePermissionPrompt',
    );
  });

  it('says that it is confined only where it is', () => {
    expect(launch(confined).env).toHaveProperty('IS_SANDBOX', '1');
    expect(launch(request).env).not.toHaveProperty('IS_SANDBOX');
  });
});
