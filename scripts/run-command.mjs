import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The root of the checkout: every script works from any folder. */
export const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Runs one command and resolves with `{ status, stdout, output, timedOut }`; never rejects for a bad exit status.
 * Past `timeoutMs` the command and what it started in its process group are ended.
 */
export async function runCommand([command, ...args], options = {}) {
  const { cwd = root, env = process.env, timeoutMs, onLine } = options;
  const child = spawn(command, args, {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const collected = { stdout: '', output: '' };
  const collect = (stream) => (chunk) => {
    collected.output += chunk;
    if (stream === 'stdout') collected.stdout += chunk;
    onLine?.(chunk);
  };
  child.stdout.setEncoding('utf8').on('data', collect('stdout'));
  child.stderr.setEncoding('utf8').on('data', collect('stderr'));

  const stop = stopOnTimeoutOrSignal(child, timeoutMs);
  const status = await waitForClose(child, collected);
  stop.dispose();
  return { status, ...collected, timedOut: stop.timedOut() };
}

function waitForClose(child, collected) {
  return new Promise((resolve) => {
    child.on('error', (error) => {
      collected.output += `${error.message}\n`;
      resolve(127);
    });
    child.on('close', (code, signal) => resolve(signal ? 128 : code));
  });
}

function stopOnTimeoutOrSignal(child, timeoutMs) {
  let timedOut = false;
  const end = (signal) => {
    // The group id is the pid of a child that we made a group leader; nothing else can be in it.
    try {
      process.kill(-child.pid, signal);
    } catch (error) {
      if (error.code !== 'ESRCH') throw error;
    }
  };
  const timers = [];
  if (timeoutMs !== undefined) {
    timers.push(
      setTimeout(() => {
        timedOut = true;
        end('SIGTERM');
        timers.push(setTimeout(() => end('SIGKILL'), 10_000));
      }, timeoutMs),
    );
  }
  const onSignal = (signal) => {
    end(signal);
    process.exit(130);
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, onSignal);
  return {
    timedOut: () => timedOut,
    dispose() {
      for (const timer of timers) clearTimeout(timer);
      for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, onSignal);
    },
  };
}
