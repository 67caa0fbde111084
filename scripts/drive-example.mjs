import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startScriptedModel } from '@holdfast/provider-core/certification';

/**
 * Runs inside the fresh project, with a temporary HOME and the pinned CLIs on the PATH: sets the CLIs up as a person
 * would have done, at a scripted model, then calls every function of one README example with folders as arguments.
 */
const [modulePath, expectedText] = process.argv.slice(2);
const example = await import(pathToFileURL(modulePath).href);
const calls = Object.values(example).filter((value) => typeof value === 'function');
const model = await startScriptedModel();
try {
  for (const call of calls) {
    const folders = createFolders(call);
    setUpClaudeCode(folders);
    setUpCodex(folders);
    const answer = await call(...folders);
    assert.equal(typeof answer, 'string');
    assert.ok(answer.includes(expectedText), `${call.name} answered: ${answer}`);
    console.log(`${call.name} answered: ${answer}`);
  }
} finally {
  await model.stop();
}
// At the very end: a session that is still followed may open its pane, and with it a tmux server, at any moment before.
process.on('exit', endOurProcesses);
// A turn that an example left half read may still be followed.
process.exit();

function createFolders({ name, length }) {
  return Array.from({ length }, (_, index) => {
    const folder = join(homedir(), `${name}-${index}`);
    mkdirSync(folder, { recursive: true });
    return realpathSync(folder);
  });
}

function setUpClaudeCode(folders) {
  const trusted = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
  const projects = Object.fromEntries(folders.map((folder) => [folder, trusted]));
  const env = {
    ANTHROPIC_BASE_URL: model.baseUrl,
    ANTHROPIC_AUTH_TOKEN: 'loopback-key',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  };
  writeJson('.claude.json', { hasCompletedOnboarding: true, projects });
  mkdirSync(join(homedir(), '.claude'), { recursive: true });
  writeJson('.claude/settings.json', { env });
}

function setUpCodex(folders) {
  mkdirSync(join(homedir(), '.codex'), { recursive: true });
  const trust = folders.map(
    (folder) => `[projects.${JSON.stringify(folder)}]\ntrust_level = "trusted"`,
  );
  const lines = [
    'model_provider = "scripted"',
    'check_for_update_on_startup = false',
    '[model_providers.scripted]',
    'name = "scripted"',
    `base_url = "${model.baseUrl}/v1"`,
    'wire_api = "responses"',
    ...trust,
  ];
  writeFileSync(join(homedir(), '.codex', 'config.toml'), `${lines.join('\n')}\n`);
}

function writeJson(name, value) {
  writeFileSync(join(homedir(), name), JSON.stringify(value));
}

/**
 * An example need not close what it opened; whatever names our temporary HOME was started by it. Looked for until nothing is
 * found: a tmux server may be just starting, and is another process then than the one that started it.
 */
function endOurProcesses() {
  for (let found = listOurProcesses(); found.length > 0; found = listOurProcesses()) {
    for (const pid of found) endProcess(pid);
  }
}

function endProcess(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It is gone already.
  }
}

function listOurProcesses() {
  return listPids().filter((pid) => pid !== process.pid && isAlive(pid) && namesOurHome(pid));
}

function listPids() {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

/** Its environment or its arguments: tmux has our home in its socket's path alone. */
function namesOurHome(pid) {
  return ['environ', 'cmdline'].some((file) => readProcessFile(pid, file).includes(homedir()));
}

/** One that was ended and that nobody has waited for yet is dead. */
function isAlive(pid) {
  return !/^State:\s+[ZX]/m.test(readProcessFile(pid, 'status'));
}

function readProcessFile(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
