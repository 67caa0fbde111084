import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PermissionLevel, SessionConfig } from '../../spec/session-config.js';
import { encodeMessage, findExecRefusal } from './exec-delivery.js';
import { codexCreation, levelOfSandbox, planTurnLaunch, sandboxOf } from './exec-launch.js';
import { isNotice, readGivenUp, readOpened, readSettings } from './exec-output.js';

const THREAD = '01a22864-30dd-7132-a802-f90afa03ae9b';
const LEVELS: readonly PermissionLevel[] = ['read_only', 'ask', 'edit', 'full'];

const config: SessionConfig = {
  workingDir: '/home/dev/project',
  model: 'gpt-x',
  systemPrompt: 'Be "brief".\nAlways.',
  effort: 'low',
  toolPolicy: { permissions: 'read_only' },
  mcpServers: {
    'my notes': { command: 'notes', args: ['-v'], env: { TOKEN: 'mcp-secret' } },
    docs: { url: 'http://127.0.0.1:9/mcp', headers: { Authorization: 'header-secret' } },
  },
  endpoint: { baseUrl: 'http://127.0.0.1:8080/v1', apiKey: 'endpoint-secret' },
  trustWorkingDir: true,
};
const request = {
  config,
  cliHome: '/home/dev/.codex',
  nativeSessionId: THREAD,
  images: ['/home/dev/files/turn-image-0.png'],
  apiKey: 'endpoint-secret',
};

describe('a turn by exec', () => {
  it('B13: uses before and after `resume` only what the CLI takes there', () => {
    const { args } = planTurnLaunch(request);
    const at = args.indexOf('resume');
    const end = args.indexOf('--');

    expect(at).toBeGreaterThan(0);
    for (const flag of flagsOf(args.slice(0, at))) expect(helpOf('exec')).toContain(flag);
    for (const flag of flagsOf(args.slice(at, end))) expect(helpOf('exec-resume')).toContain(flag);
    // What `exec resume` refuses stands before it.
    expect(flagsOf(args.slice(at, end))).toEqual(['--json', '-i']);
    for (const flag of ['-s', '-C', '-p']) expect(helpOf('exec-resume')).not.toContain(flag);
  });

  it('B21: names its native id, and never asks for the newest or a name', () => {
    const { args } = planTurnLaunch(request);

    expect(args.slice(-3)).toEqual(['--', THREAD, '-']);
    expect(args).not.toContain('--last');
  });

  it('B115: gives sandbox, model and effort again at every turn, since no resume restores them', () => {
    for (const permissions of LEVELS) {
      const { args } = planTurnLaunch({
        ...request,
        config: { ...config, toolPolicy: { permissions } },
      });
      const before = args.slice(0, args.indexOf('resume'));

      expect(before.slice(before.indexOf('-s'), before.indexOf('-s') + 2)).toEqual([
        '-s',
        { read_only: 'read-only', ask: 'workspace-write', edit: 'workspace-write' }[
          permissions as 'ask'
        ] ?? 'danger-full-access',
      ]);
      expect(before).toEqual(
        expect.arrayContaining(['-m', 'gpt-x', 'model_reasoning_effort="low"', '-C']),
      );
    }
  });

  it('B115: reads from the record what a turn may do, an unknown sandbox as the loosest', () => {
    const recorded = readLines('0.171.0.exec-sandboxes.jsonl').flatMap(
      (line) => readSettings(line)?.permissions ?? [],
    );

    expect(recorded).toEqual(['read_only', 'ask', 'full']);
    const unknown = { type: 'turn_context', payload: { sandbox_policy: { type: 'future' } } };
    expect(readSettings(unknown)).toEqual({ permissions: 'full' });
    // What a level plans is never read back as looser than that level.
    for (const permissions of LEVELS) {
      const level = levelOfSandbox(sandboxOf({ toolPolicy: { permissions } }));
      expect(LEVELS.indexOf(level ?? 'full')).toBeLessThanOrEqual(LEVELS.indexOf(permissions));
    }
  });

  it('B60: keeps prompt, servers and secrets out of the arguments, in a file of the CLI’s home', () => {
    const { args, env, homeFiles } = planTurnLaunch(request);

    for (const text of ['endpoint-secret', 'mcp-secret', 'header-secret', 'brief', 'notes']) {
      expect(args.join(' ')).not.toContain(text);
    }
    expect(env).toEqual({
      CODEX_HOME: '/home/dev/.codex',
      HOLDFAST_ENDPOINT_KEY: 'endpoint-secret',
    });
    const [profile] = homeFiles;
    expect(profile?.name).toBe(`${args[args.indexOf('-p') + 1]}.config.toml`);
    const [instructions, servers, end] = profile?.content.split('\n') ?? [];
    expect(instructions).toBe('developer_instructions = "Be \\"brief\\".\\nAlways."');
    expect(servers).toMatch(
      /^mcp_servers = \{ "my notes" = \{ "command" = "notes", "args" = \["-v"\]/,
    );
    expect(servers).toContain('"env" = { "TOKEN" = "mcp-secret" }');
    expect(servers).toContain('"http_headers" = { "Authorization" = "header-secret" }');
    expect(end).toBe('');
  });

  it('needs no file where the session brings neither prompt nor servers', () => {
    const { workingDir } = config;
    const launch = planTurnLaunch({ ...request, config: { workingDir }, images: [] });

    expect(launch.homeFiles).toEqual([]);
    expect(launch.args).not.toContain('-p');
  });

  it('refuses tool patterns, which Codex does not have', () => {
    const toolPolicy = { permissions: 'ask', allow: ['Bash'] } as const;

    expect(() => planTurnLaunch({ ...request, config: { ...config, toolPolicy } })).toThrow(
      TypeError,
    );
  });

  it('B24: takes the id of a new thread from Codex, and makes none', () => {
    const start = JSON.stringify(codexCreation.start(config));

    expect(start).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/);
    // A writable thread would write its folder into the user's configuration as trusted.
    expect(start).toContain('"sandbox":"read-only"');
  });
});

describe('what exec says', () => {
  it('tells its thread in the first line, and nothing of it in the others', () => {
    const opened = readLines('0.171.0.exec-output.jsonl').map(readOpened);

    expect(opened[0]).toBe(THREAD);
    expect(opened.slice(1).filter(Boolean)).toEqual([]);
    expect(readOpened(undefined)).toBeUndefined();
  });

  it.each([
    ['0.171.0.exec-held.txt', 'held_elsewhere'],
    ['0.171.0.exec-no-rollout.txt', 'no_record'],
  ])('gives up in %s as %s', (name, reason) => {
    expect(readGivenUp(readFixture(name))).toMatchObject({ reason });
  });

  it('gives up for another reason in its own words, and not at all without one', () => {
    expect(readGivenUp('WARNING: x\nError: no luck \n')).toEqual({
      reason: 'other',
      detail: 'no luck',
    });
    expect(readGivenUp('WARNING: the word Error: inside\n')).toBeUndefined();
    expect(readGivenUp('')).toBeUndefined();
  });

  it('is not what it writes when it goes on', () => {
    // Said by 0.171.0 in every run with a home below the system's folder for temporary files.
    const said = 'WARNING: proceeding, even though we could not create PATH aliases: Refusing';

    expect(isNotice(said)).toBe(true);
    expect(isNotice('2026-11-29T18:00:00.000001Z ERROR codex_core::skills: no skill')).toBe(true);
    expect(isNotice('Reading prompt from stdin...')).toBe(true);
    expect(isNotice('thread main panicked at core.rs: no luck')).toBe(false);
    expect(isNotice('Not today.')).toBe(false);
  });
});

describe('a message for exec', () => {
  it('is refused when it is blank or too long, and only then', () => {
    for (const text of ['', ' ', '\n', '\f\u00a0\u3000\u0085\u2028']) {
      expect(findExecRefusal(text)).toBeDefined();
    }
    expect(findExecRefusal('x'.repeat(1_048_577))).toMatchObject({ reason: 'too_long' });
    expect(findExecRefusal('\uFEFF')).toBeUndefined();
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
        expect(findExecRefusal(text) === undefined).toBe(/[^\p{White_Space}]/u.test(text));
      }),
    );
  });

  it('comes out as it was given once exec has taken one byte order mark off', () => {
    fc.assert(
      fc.property(fc.nat(3), fc.string(), (marks, rest) => {
        const text = '\uFEFF'.repeat(marks) + rest;
        expect(encodeMessage(text).replace(/^\uFEFF/, '')).toBe(text);
      }),
    );
  });
});

function flagsOf(args: readonly string[]): string[] {
  return args.filter((arg) => /^--?[a-zA-Z]/.test(arg));
}

/** The flags that a help page lists. */
function helpOf(name: string): readonly string[] {
  const text = readFixture(`0.171.0.${name}-help.txt`);
  return [...text.matchAll(/^ +(-\w)?,? ?(--[\w-]+)/gm)].flatMap(([, short, long]) =>
    [short, long].flatMap((flag) => flag ?? []),
  );
}

function readFixture(name: string): string {
  return readFileSync(new URL(`__fixtures__/${name}`, import.meta.url), 'utf8');
}

function readLines(name: string): unknown[] {
  return readFixture(name)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}
