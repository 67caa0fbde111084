import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { addUpRuns, readClosingLine, readFlakyLine } from './count-tests.mjs';
import { ensurePinnedNodes } from './fetch-clis.mjs';
import { root } from './run-command.mjs';

const OWN = process.versions.node.split('.')[0];

/**
 * Runs one program under each of the Nodes, one after the other, and ends with one count for all of them. Resolves with
 * the exit status. Our own major version is never fetched; the others are driven through provider-core alone.
 */
export async function runOnNodes(command, { nodes, env, onProgress }) {
  const foreign = nodes.filter((major) => major !== OWN);
  const fetched = await ensurePinnedNodes(foreign, { onProgress });
  const seen = { runs: [], totals: [] };
  for (const major of nodes) {
    const binary = fetched.find(({ version }) => version.startsWith(`${major}.`))?.binary;
    const args = binary && !command.includes('--layer') ? ['--layer', 'provider-core'] : [];
    onProgress(`Node ${major}:`);
    await runOnce(binary ?? process.execPath, [...command, ...args], env, seen);
  }
  if (seen.totals.length > 0) console.log(JSON.stringify(addUp(seen.totals)));
  const { passed, failed, flaky } = addUpRuns(seen.runs);
  if (flaky !== undefined) console.log(`flaky: ${flaky}`);
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0 ? 0 : 1;
}

/** Passes the lines on, but for the closing ones, which are added up. A run without a closing line has failed. */
async function runOnce(node, command, env, seen) {
  const child = spawn(node, command, { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const stop = (signal) => child.kill(signal);
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, stop);
  let closing;
  let flaky;
  for await (const line of createInterface({ input: child.stdout })) {
    const count = readClosingLine(line);
    if (count) closing = count;
    else if (readFlakyLine(line) !== undefined) flaky = readFlakyLine(line);
    else if (line.startsWith('{"total":true')) seen.totals.push(JSON.parse(line));
    else console.log(line);
  }
  for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, stop);
  seen.runs.push({ ...(closing ?? { passed: 0, failed: 1 }), flaky });
}

/** What was seen on every Node counts once; the rows are counted together. */
function addUp(totals) {
  const least = (field) => Math.min(...totals.map((total) => total[field]));
  const rows = totals.reduce((sum, total) => sum + total.rows, 0);
  return { total: true, rows, certifications: least('certifications'), cases: least('cases') };
}
