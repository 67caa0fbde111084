import { readClisUnderTest } from './harness/cli-under-test.js';
import { endWithCount, readCommandLine } from './harness/command-line.js';
import type { StageCheck } from './threads/check.js';
import { listNewest, listPairs, namePair } from './threads/pairs.js';
import { refuseAndRecover } from './threads/refuse-and-recover.js';
import { runStageLoop } from './threads/run-stage-loop.js';

/**
 * Coding threads on the real CLIs with a scripted model: what is refused, what a kill leaves, and a stage that the builder
 * drives by itself. `demo threads` shows the diagram of two stages, job by job.
 */
const options = readCommandLine();
const clis = await readClisUnderTest({
  provider: options.provider,
  cliVersion: options['cli-version'],
});
const counts = { passed: 0, failed: 0 };
for (const cli of listNewest(clis)) {
  await judge(`${cli.provider} ${cli.version}`, () => refuseAndRecover(cli));
}
for (const pair of listPairs(clis)) await judge(namePair(pair), () => runStageLoop(pair));
endWithCount(counts);

async function judge(title: string, run: () => Promise<readonly StageCheck[]>): Promise<void> {
  try {
    for (const one of await run()) tell(title, one);
  } catch (error) {
    tell(title, { name: 'runs to its end', passed: false, seen: String(error) });
  }
}

function tell(title: string, { name, passed, seen }: StageCheck): void {
  counts[passed ? 'passed' : 'failed'] += 1;
  if (options.json) console.log(JSON.stringify({ title, name, passed, seen }));
  else
    console.log(`${passed ? 'ok    ' : 'FAILED'}  ${title}: ${name}${passed ? '' : ` (${seen})`}`);
}
