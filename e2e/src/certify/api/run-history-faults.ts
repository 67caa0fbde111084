import { historyCertificationIds } from '@holdfast/provider-core/certification';
import { listModelApiFixtures } from '../../harness/providers/model-apis.js';
import { runJobs } from '../../harness/run-jobs.js';
import { type HistoryFault, historyFaults } from './history-faults.js';
import { proveHistoryOnce } from './prove-history.js';

/** What keeps a turn from its end need not be waited for long. */
const PLANTED_LIMIT_MS = 30_000;

interface PlantedOptions {
  readonly jobs: string;
  readonly only?: string | undefined;
  readonly way?: string | undefined;
  readonly provider?: string | undefined;
}

/** Runs each planted fault of the model APIs under the proof that must catch it; a proof that passes has failed. */
export async function runHistoryFaults({
  jobs,
  only,
  way,
  provider,
}: PlantedOptions): Promise<{ passed: number; failed: number }> {
  const isOn = (list: string | undefined, name: string) =>
    list === undefined || list.split(',').includes(name);
  const api = listModelApiFixtures().find((one) => isOn(provider, one.provider));
  if (!api || !isOn(way, 'api')) return { passed: 0, failed: 0 };
  const wanted = historyFaults.filter(({ certification }) => isOn(only, certification));
  const caught = await runJobs(wanted, Number(jobs), async (fault: HistoryFault) => {
    const { certification, name } = fault;
    const job = { api, certification, tamper: fault.plant(), limitMs: PLANTED_LIMIT_MS };
    const { row, error } = await proveHistoryOnce(job);
    const isCaught = row.status === 'failed';
    const verdict = isCaught ? 'ok    ' : 'FAILED';
    const took = `${(row.ms / 1000).toFixed(1)} s`;
    console.log(`${verdict}  ${api.provider} api that ${name}: ${certification} (${took})`);
    if (isCaught) process.stderr.write(`  caught by: ${String(error).split('\n')[0]}\n`);
    return isCaught;
  });
  const proven = historyFaults.map(({ certification }) => certification);
  const unproven = historyCertificationIds.filter((id) => !proven.includes(id));
  for (const id of unproven) console.log(`FAILED  ${id} has no planted fault`);
  const missed = caught.filter((isCaught) => !isCaught).length;
  return { passed: caught.length - missed, failed: missed + unproven.length };
}
