import { rmSync } from 'node:fs';
import { countTests } from './count-tests.mjs';
import { findFailedTests, renderFailedTests } from './failed-tests.mjs';
import { clisFile, ensurePinnedClis } from './fetch-clis.mjs';
import { runCommand } from './run-command.mjs';
import { stages, vitestReport } from './suites.mjs';

const HEARTBEAT_MS = 30_000;
/** A suite that takes this many times its budget hangs; what it started is ended and it has failed. */
const HANG_FACTOR = 4;

const args = process.argv.slice(2);
const only = args
  .find((arg) => arg.startsWith('--only='))
  ?.slice('--only='.length)
  .split(',');
const isWanted = ({ name }) => only === undefined || only.includes(name);

const started = performance.now();
const results = [];
rmSync(vitestReport, { force: true });
const env = await findCliEnvironment();
for (const lanes of stages) await Promise.all(lanes.map(runLane));
report();

async function runLane(lane) {
  for (const suite of lane.filter(isWanted)) results.push(await runSuite(suite));
}

async function runSuite(suite) {
  if (suite.needsBuild && results.some(({ name, failed }) => name === 'build' && failed > 0)) {
    console.log(`FAILED  ${suite.name}: not run, since the build failed`);
    const tests = [{ name: 'not run, since the build failed', error: [], isFlaky: false }];
    return { ...suite, seconds: 0, passed: 0, failed: 1, tests };
  }
  console.log(`        ${suite.name} …`);
  const begun = performance.now();
  const outcome = await runWithHeartbeat(suite, begun);
  const seconds = (performance.now() - begun) / 1000;
  const ran = { ...suite, ...outcome, reportFile: vitestReport };
  const count = countTests(ran);
  const result = { ...suite, seconds, ...count, tests: findFailedTests({ ...ran, ...count }) };
  printOutcome(result, outcome);
  return result;
}

async function runWithHeartbeat({ name, command, budgetSeconds }, begun) {
  let lastLine = '';
  const heartbeat = setInterval(() => {
    const seconds = Math.round((performance.now() - begun) / 1000);
    console.log(`        ${name} … ${seconds} s ${lastLine}`);
  }, HEARTBEAT_MS);
  const onLine = (chunk) => {
    lastLine = chunk.trimEnd().split('\n').at(-1).slice(0, 100);
  };
  const timeoutMs = budgetSeconds * HANG_FACTOR * 1000;
  const outcome = await runCommand(command, { env, timeoutMs, onLine });
  clearInterval(heartbeat);
  return outcome;
}

function printOutcome({ name, seconds, passed, failed, note, budgetSeconds, tests }, outcome) {
  const time = `${seconds.toFixed(1)} s`;
  if (failed === 0) {
    const flaky = tests.length > 0 ? `, ${tests.length} of them flaky` : '';
    console.log(`ok      ${name}: ${passed} passed${flaky}, ${time}`);
    return;
  }
  const hung = outcome.timedOut ? `, ended after ${HANG_FACTOR} times its ${budgetSeconds} s` : '';
  console.log(`FAILED  ${name}: ${failed} failed, ${time}${hung}${note ? ` (${note})` : ''}`);
  console.log(outcome.output.trimEnd());
}

async function findCliEnvironment() {
  const plain = { ...process.env, NO_COLOR: '1' };
  if (plain.HOLDFAST_CLIS) return plain;
  await ensurePinnedClis({ all: args.includes('--all'), onProgress: (line) => console.log(line) });
  return { ...plain, HOLDFAST_CLIS: clisFile() };
}

function report() {
  console.log('\nsuite             passed  failed   seconds  budget');
  for (const { name, passed, failed, seconds, budgetSeconds } of results) {
    const columns = [
      name.padEnd(16),
      String(passed).padStart(7),
      String(failed).padStart(7),
      seconds.toFixed(1).padStart(9),
      String(budgetSeconds).padStart(7),
      seconds > budgetSeconds ? ' over its budget' : '',
    ];
    console.log(columns.join(' ').trimEnd());
  }
  const total = (field) => results.reduce((sum, result) => sum + result[field], 0);
  const failed = results.length === 0 ? 1 : total('failed');
  // A log that is cut in its middle still names what failed.
  const failures = renderFailedTests(results);
  if (failures.length > 0) console.log(`\n${failures.join('\n')}`);
  console.log(`\nall suites took ${((performance.now() - started) / 1000).toFixed(0)} s`);
  console.log(`${total('passed')} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}
