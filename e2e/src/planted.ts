import { runHistoryFaults } from './certify/api/run-history-faults.js';
import { readClisUnderTest } from './harness/cli-under-test.js';
import { endWithCount, readCommandLine } from './harness/command-line.js';
import { runPlantedFaults } from './planted/run-planted-faults.js';

/** The same as `certify --planted`: every proof must catch the faults that are planted for it. */
const options = readCommandLine();
const clis = await readClisUnderTest({
  provider: options.provider,
  cliVersion: options['cli-version'],
});
const ofApis = await runHistoryFaults(options);
const ofClis = await runPlantedFaults(clis, options);
endWithCount({
  passed: ofApis.passed + ofClis.passed,
  failed: ofApis.failed + ofClis.failed,
});
