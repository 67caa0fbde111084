import { findProvider } from '@holdfast/provider-core';
import { listBoundRequirements } from '@holdfast/provider-core/certification';
import { proveOnce } from '../certify/prove-once.js';
import type { CliUnderTest } from '../harness/cli-under-test.js';
import { runJobs } from '../harness/run-jobs.js';
import { listPlantedFaults, type PlantedFault } from './fault-list.js';

interface PlantedJob {
  readonly cli: CliUnderTest;
  readonly fault: PlantedFault;
}

interface PlantedOptions {
  readonly jobs: string;
  readonly only?: string | undefined;
}

/** Runs each planted fault under the proof that must catch it; a proof that passes has failed. */
export async function runPlantedFaults(
  clis: readonly CliUnderTest[],
  { jobs, only }: PlantedOptions,
): Promise<{ passed: number; failed: number }> {
  const outcomes = await runJobs(listPlantedJobs(clis, only), Number(jobs), runPlanted);
  const unproven = only === undefined ? listUnproven(clis) : [];
  for (const what of unproven) console.log(`FAILED  ${what} has no planted fault`);
  const missed = outcomes.filter((isCaught) => !isCaught).length;
  return { passed: outcomes.length - missed, failed: missed + unproven.length };
}

/** Certifications that were never seen failing, since no fault is planted for them. */
function listUnproven(clis: readonly CliUnderTest[]): readonly string[] {
  return [...new Set(clis.map(({ provider }) => provider))].flatMap((provider) => {
    const definition = findProvider(provider);
    if (!definition) return [provider];
    const faults = listPlantedFaults(definition.transports.tmux?.kind === 'typed_pane');
    return listBoundRequirements(definition)
      .filter(([id]) => !faults.some(({ certification }) => certification === id))
      .map(([id]) => `${provider}: ${id}`);
  });
}

function listPlantedJobs(
  clis: readonly CliUnderTest[],
  only: string | undefined,
): readonly PlantedJob[] {
  // The oldest pinned version: newer ones keep by themselves some of what a resume used to lose.
  const oldest = new Map(clis.toReversed().map((cli) => [cli.provider, cli]));
  return [...oldest.values()].flatMap((cli) => {
    const definition = findProvider(cli.provider);
    if (!definition) throw new Error(`provider-core has no provider ${cli.provider}.`);
    const bound = new Set<string>(listBoundRequirements(definition).map(([id]) => id));
    return listPlantedFaults(definition.transports.tmux?.kind === 'typed_pane')
      .filter(({ certification }) => bound.has(certification))
      .filter(({ certification }) => only === undefined || only.split(',').includes(certification))
      .map((fault) => ({ cli, fault }));
  });
}

async function runPlanted({ cli, fault }: PlantedJob): Promise<boolean> {
  const { certification, attempts = 1 } = fault;
  const job = { cli, layer: 'provider-core', certification, fault } as const;
  let outcome = await proveOnce(job);
  for (let attempt = 1; attempt < attempts && outcome.row.result === 'passed'; attempt += 1) {
    outcome = await proveOnce(job);
  }
  const { row, seconds, error } = outcome;
  const isCaught = row.result === 'failed';
  const verdict = isCaught ? 'ok    ' : 'FAILED';
  console.log(
    `${verdict}  ${cli.provider} ${cli.version} that ${fault.name}: ${fault.certification} (${seconds.toFixed(1)} s)`,
  );
  if (isCaught) process.stderr.write(`  caught by: ${firstLine(error)}\n`);
  return isCaught;
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
}
