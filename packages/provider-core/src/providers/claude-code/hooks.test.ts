import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { armGate, createHookFiles, createHookSettings, readArmedText } from './hooks.js';
import { readSignal } from './signals.js';

const SESSION = '0e1f2a3b-0000-4000-8000-000000000001';
let root: string;
let filesDir: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'holdfast-hooks-'));
  // A quote in the path must not end the script's own quoting.
  filesDir = join(root, "it's here");
  mkdirSync(filesDir);
  const files = createHookFiles({
    filesDir,
    cliHome: join(root, 'home'),
    nativeSessionId: SESSION,
  });
  for (const { name, content } of files) writeFileSync(join(filesDir, name), content);
});

afterEach(() => rmSync(root, { recursive: true }));

function run(script: string, payload: object, argument?: string): string {
  const args = [join(filesDir, script), ...(argument === undefined ? [] : [argument])];
  const { status, stdout } = spawnSync('/bin/sh', args, {
    input: JSON.stringify(payload),
    encoding: 'utf8',
  });
  expect(status).toBe(0);
  return stdout;
}

const signals = () =>
  readFileSync(join(filesDir, 'spool.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => readSignal(JSON.parse(line)));
const submit = (prompt: string, mode = 'default') =>
  run('gate.sh', {
    session_id: SESSION,
    permission_mode: mode,
    hook_event_name: 'UserPromptSubmit',
    prompt,
  });

function arm(text: string): void {
  for (const { name, content } of armGate({ text, token: 'a1', permissions: 'ask' })) {
    writeFileSync(join(filesDir, name), content);
  }
}

describe('the gate', () => {
  it.each([
    'hello',
    'two\nlines',
    '"quoted" \\ and 世界 🙂 \u0001',
    '%s $HOME `id`',
    'x'.repeat(200_000),
    `${'*?[a-z]\\'.repeat(300)}!(x)`,
    "it's ${HOME} $(id) \\n",
  ])('passes exactly the armed text once (%#)', (text) => {
    arm(text);
    expect(submit(text)).toBe('');
    expect(signals()).toEqual([{ type: 'gate', verdict: { kind: 'passed', token: 'a1' } }]);
    submit(text);
    expect(signals().at(-1)).toMatchObject({ verdict: { kind: 'other' } });
  });

  it('blocks a text that holds ours and something else', () => {
    arm('delete it');
    expect(JSON.parse(submit('do not delete it'))).toMatchObject({ decision: 'block' });
    expect(signals()).toEqual([{ type: 'gate', verdict: { kind: 'mixed', token: 'a1' } }]);
  });

  it('lets somebody else text pass, and tells it', () => {
    arm('ours');
    expect(submit('a "person" says hello')).toBe('');
    const verdict = { kind: 'other', text: 'a "person" says hello', isBackground: false };
    expect(signals()).toMatchObject([{ type: 'gate', verdict }]);
  });

  it('lets somebody else long text pass while a short one is armed', () => {
    arm('ours');
    const text = '*'.repeat(20_000);
    submit(text);
    expect(signals()).toMatchObject([{ type: 'gate', verdict: { kind: 'other', text } }]);
  });

  it('blocks a long text with something behind it', () => {
    const text = `${'long '.repeat(2_000)}end`;
    arm(text);
    expect(JSON.parse(submit(`${text} more`))).toMatchObject({ decision: 'block' });
  });

  it('blocks our text under a looser permission mode', () => {
    arm('ours');
    expect(JSON.parse(submit('ours', 'bypassPermissions'))).toMatchObject({ decision: 'block' });
    const verdict = { kind: 'looser_permissions', token: 'a1', mode: 'bypassPermissions' };
    expect(signals()).toEqual([{ type: 'gate', verdict }]);
  });

  it('passes our text under a stricter permission mode', () => {
    arm('ours');
    expect(submit('ours', 'plan')).toBe('');
  });

  it('keeps the text so that it can be read back', () => {
    const [text] = armGate({ text: 'a "b"\n', token: 'a1', permissions: 'ask' });
    expect(readArmedText(text?.content ?? '')).toBe('a "b"\n');
    expect(readArmedText('torn')).toBeUndefined();
  });
});

describe('the barrier', () => {
  const call = { tool_name: 'Bash', tool_input: { tool_use_id: 'inner' }, tool_use_id: 'toolu_7' };
  const record = (
    rows = '{"promptId":"p1"}\n{"content":[{"type":"tool_use","id":"toolu_7"}]}\n',
  ) => {
    const folder = join(root, 'home', 'projects', '-work');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${SESSION}.jsonl`), rows);
  };

  it('lets a tool run whose call stands in the record', () => {
    record();
    expect(run('barrier.sh', { session_id: SESSION, prompt_id: 'p1', ...call })).toBe('');
  });

  it('lets a tool wait until its message stands in the record too', () => {
    record('{"content":[{"type":"tool_use","id":"toolu_7"}]}\n');
    const path = join(root, 'home', 'projects', '-work', `${SESSION}.jsonl`);
    const later = `(sleep 0.3; echo '{"promptId":"p1"}' >>"$2") & sh "$1"/barrier.sh; grep -c p1 "$2"`;
    const { stdout } = spawnSync('/bin/sh', ['-c', later, 'x', filesDir, path], {
      input: JSON.stringify({ session_id: SESSION, prompt_id: 'p1', ...call }),
      encoding: 'utf8',
    });
    expect(stdout).toBe('1\n');
  });

  it('lets the tools of a subagent run', () => {
    expect(run('barrier.sh', { session_id: SESSION, agent_id: 'a', ...call })).toBe('');
  });

  it('denies by the clock what does not come, however long each look takes', () => {
    const tools = join(root, 'tools');
    mkdirSync(tools);
    const clock = `#!/bin/sh\necho >>"$0".log; wc -l <"$0".log | awk '{ print $1 * 15 }'\n`;
    writeFileSync(join(tools, 'date'), clock, { mode: 0o700 });
    writeFileSync(join(tools, 'sleep'), '#!/bin/sh\necho >>"$0".log\n', { mode: 0o700 });
    const { stdout } = spawnSync('/bin/sh', [join(filesDir, 'barrier.sh')], {
      input: JSON.stringify({ session_id: SESSION, prompt_id: 'p1', ...call }),
      encoding: 'utf8',
      env: { PATH: `${tools}:/usr/bin:/bin` },
    });
    expect(JSON.parse(stdout).hookSpecificOutput.permissionDecision).toBe('deny');
    expect(readFileSync(join(tools, 'sleep.log'), 'utf8').length).toBe(40);
  });

  it('denies a call without a readable id', () => {
    const answer = JSON.parse(run('barrier.sh', { ...call, tool_use_id: '../x' }));
    expect(answer.hookSpecificOutput).toMatchObject({ permissionDecision: 'deny' });
  });
});

describe('the approval relay', () => {
  const payload = { session_id: SESSION, tool_name: 'Bash', tool_input: { command: "echo 'x'" } };

  it('B113: denies at once where nobody answers', () => {
    const answer = JSON.parse(run('approval.sh', payload));
    expect(answer.hookSpecificOutput.decision).toMatchObject({ behavior: 'deny' });
    expect(existsSync(join(filesDir, 'approvals'))).toBe(false);
    expect(signals()).toEqual([
      { type: 'record', event: { type: 'waiting', on: 'permission', detail: 'Bash' } },
    ]);
  });

  it('gives the answer it finds, and clears the request away', () => {
    writeFileSync(join(filesDir, 'approver'), '');
    const answerer = `while :; do for d in "$1"/approvals/*; do [ -f "$d"/request.json ] && { echo '{"ok":1}' >"$d"/answer.json; exit; }; done; sleep 0.05; done`;
    const script = `sh -c '${answerer.replaceAll("'", "'\\''")}' answer "$1" & sh "$1"/approval.sh; wait`;
    const { stdout } = spawnSync('/bin/sh', ['-c', script, 'x', filesDir], {
      input: JSON.stringify(payload),
      encoding: 'utf8',
    });
    expect(JSON.parse(stdout)).toEqual({ ok: 1 });
    expect(readdirSync(join(filesDir, 'approvals'))).toEqual([]);
  });
});

describe('the approval relay that nobody answers', () => {
  const wait = `sh "$1"/approval.sh & while [ -z "$(ls "$1"/approvals 2>/dev/null)" ]; do sleep 0.05; done;`;
  const runBeside = (then: string) =>
    spawnSync('/bin/sh', ['-c', `${wait} ${then}; wait`, 'x', filesDir], {
      input: JSON.stringify({ session_id: SESSION, tool_name: 'Bash', tool_input: {} }),
      encoding: 'utf8',
    }).stdout;

  it('ends without a word when its request was settled in the pane', () => {
    writeFileSync(join(filesDir, 'approver'), '');
    expect(runBeside('rm -rf "$1"/approvals/*')).toBe('');
  });

  it('denies as soon as the approver is gone', () => {
    writeFileSync(join(filesDir, 'approver'), '');
    const answer = JSON.parse(runBeside('rm "$1"/approver'));
    expect(answer.hookSpecificOutput.decision).toMatchObject({ behavior: 'deny' });
    expect(readdirSync(join(filesDir, 'approvals'))).toEqual([]);
  });
});

describe('createHookSettings', () => {
  it('quotes the folder for the shell', () => {
    expect(JSON.stringify(createHookSettings("/a b/it's"))).toContain("'/a b/it'\\\\''s/gate.sh'");
  });
});
