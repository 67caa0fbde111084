import { readClisUnderTest } from './harness/cli-under-test.js';
import { endWithCount, readCommandLine } from './harness/command-line.js';
import { runPlantedFaults } from './planted/run-planted-faults.js';

/** The same as `certify --planted`: every proof must catch the faults that are planted for it. */
const options = readCommandLine();
const clis = await readClisUnderTest({
  provider: options.provider,
  cliVersion: options['cli-version'],
});
endWithCount(await runPlantedFaults(clis, options));
