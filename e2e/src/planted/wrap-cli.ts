import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** How a wrapped CLI misbehaves. */
export type CliFault =
  | 'drops_resume'
  | 'repeats_message'
  | 'drops_session_id'
  | 'drops_system_prompt'
  | 'drops_mcp_config'
  | 'drops_gate'
  | 'drops_barrier'
  | 'drops_nonce'
  | 'answers_pages';

/** Takes a flag and its value out of the arguments, the first launch left as it is unless `always`. */
function drop(flag: string, { always = false } = {}): string {
  return `
case "${always ? '--resume' : '$*'}" in *--resume*)
  n=$#
  while [ "$n" -gt 0 ]; do
    a=$1; shift; n=$((n - 1))
    if [ "$a" = "${flag}" ]; then shift; n=$((n - 1)); else set -- "$@" "$a"; fi
  done;;
esac`;
}

/** Hands the CLI a copy of its settings file without one hook. */
function dropHook(hook: string): string {
  return `
n=$#
while [ "$n" -gt 0 ]; do
  a=$1; shift; n=$((n - 1))
  set -- "$@" "$a"
  if [ "$a" = "--settings" ]; then
    node -e 'const fs=require("fs");const s=JSON.parse(fs.readFileSync(process.argv[1]));delete s.hooks["${hook}"];fs.writeFileSync(process.argv[1]+".planted",JSON.stringify(s))' "$1"
    set -- "$@" "$1.planted"; shift; n=$((n - 1))
  fi
done`;
}

const scripts: Readonly<Record<CliFault, string>> = {
  drops_resume: drop('--resume'),
  repeats_message: `
case "$*" in *--resume*) set -- "$@" "Remember the codeword heron.";; esac`,
  drops_session_id: drop('--session-id', { always: true }),
  drops_system_prompt: drop('--append-system-prompt-file'),
  drops_mcp_config: drop('--mcp-config'),
  drops_gate: dropHook('UserPromptSubmit'),
  drops_barrier: dropHook('PreToolUse'),
  drops_nonce: `
unset HOLDFAST_NONCE`,
  answers_pages: `
[ -n "$CLAUDE_CONFIG_DIR" ] && [ ! -f "$CLAUDE_CONFIG_DIR/.claude.json" ] &&
  printf '{"hasCompletedOnboarding":true,"projects":{"%s":{"hasTrustDialogAccepted":true}}}' "$PWD" \\
    >"$CLAUDE_CONFIG_DIR/.claude.json"`,
};

/** Writes a program that starts the real CLI at `binary` with the fault, and returns its path. */
export async function wrapCli(fault: CliFault, binary: string, folder: string): Promise<string> {
  const path = join(folder, 'wrapped-cli');
  const started = fault === 'drops_barrier' ? await slowDownRecord(binary, folder) : binary;
  const quoted = `'${started.replaceAll("'", "'\\''")}'`;
  await writeFile(path, `#!/bin/sh${scripts[fault]}\nexec ${quoted} "$@"\n`, { mode: 0o755 });
  return path;
}

const OWN_PACE = 'FLUSH_INTERVAL_MS=100;';
const SLOW_PACE = 'FLUSH_INTERVAL_MS=900;';

/**
 * A copy of the CLI that takes longer to write its record, byte for byte as long: with a barrier that makes no difference,
 * and without one the tool is always first.
 */
async function slowDownRecord(binary: string, folder: string): Promise<string> {
  const bytes = await readFile(binary);
  const first = bytes.indexOf(OWN_PACE);
  if (first === -1) throw new Error(`${binary} has another pace of writing; look for it anew.`);
  for (let at = first; at !== -1; at = bytes.indexOf(OWN_PACE, at + 1)) bytes.write(SLOW_PACE, at);
  const path = join(folder, 'slow-to-write-cli');
  await writeFile(path, bytes, { mode: 0o755 });
  return path;
}
