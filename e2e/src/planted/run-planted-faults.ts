import type { Way } from '@holdfast/provider-core';
import { listBoundRequirements } from '@holdfast/provider-core/certification';
import { claimsUnderTest } from '../certify/list-jobs.js';
import { proveOnce } from '../certify/prove-once.js';
import type { CliUnderTest } from '../harness/cli-under-test.js';
import { runJobs } from '../harness/run-jobs.js';
import { listPlantedFaults, type PlantedFault } from './fault-list.js';

interface PlantedJob {
  readonly cli: CliUnderTest;
  readonly way: Way;
  readonly fault: PlantedFault;
}

interface PlantedOptions {
  readonly jobs: string;
  readonly only?: string | undefined;
  readonly way?: string | undefined;
}

/** Runs each planted fault under the proof that must catch it; a proof that passes has failed. */
export async function runPlantedFaults(
  clis: readonly CliUnderTest[],
  { jobs, only, way }: PlantedOptions,
): Promise<{ passed: number; failed: number }> {
  const isOn = (list: string | undefined, name: string) =>
    list === undefined || list.split(',').includes(name);
  const wanted = listPlantedJobs(clis).filter(
    (job) => isOn(only, job.fault.certification) && isOn(way, job.way),
  );
  const outcomes = await runJobs(wanted, Number(jobs), runPlanted);
  const unproven = only === undefined && way === undefined ? listUnproven(clis) : [];
  for (const what of unproven) console.log(`FAILED  ${what} has no planted fault`);
  const missed = outcomes.filter((isCaught) => !isCaught).length;
  return { passed: outcomes.length - missed, failed: missed + unproven.length };
}

/** Certifications that were never seen failing, since no fault is planted for them. */
function listUnproven(clis: readonly CliUnderTest[]): readonly string[] {
  const bound = oldestOfEach(clis).flatMap((cli) =>
    claimsUnderTest(cli).flatMap((claims) => {
      const proven = listPlantedFaults(claims).map(({ certification }) => certification);
      return listBoundRequirements(claims)
        .filter(([id]) => !proven.includes(id))
        .map(([id]) => `${cli.provider} ${claims.way}: ${id}`);
    }),
  );
  return [...new Set(bound)];
}

/** The oldest pinned version: newer ones keep by themselves some of what a resume used to lose. */
function oldestOfEach(clis: readonly CliUnderTest[]): readonly CliUnderTest[] {
  return [...new Map(clis.toReversed().map((cli) => [cli.provider, cli])).values()];
}

/** Each fault in the first way that its certification binds, or in all of them. */
function listPlantedJobs(clis: readonly CliUnderTest[]): readonly PlantedJob[] {
  return oldestOfEach(clis).flatMap((cli) => {
    const planted = new Set<PlantedFault>();
    return claimsUnderTest(cli).flatMap((claims) => {
      const bound = new Set<string>(listBoundRequirements(claims).map(([id]) => id));
      const faults = listPlantedFaults(claims)
        .filter(({ certification }) => bound.has(certification))
        .filter((fault) => fault.inEveryWay || !planted.has(fault));
      for (const fault of faults) planted.add(fault);
      return faults.map((fault) => ({ cli, way: claims.way, fault }));
    });
  });
}

async function runPlanted({ cli, way, fault }: PlantedJob): Promise<boolean> {
  const { certification } = fault;
  const job = { cli, way, layer: 'provider-core', certification, fault } as const;
  const { row, error } = await proveOnce(job);
  const isCaught = row.status === 'failed';
  const verdict = isCaught ? 'ok    ' : 'FAILED';
  console.log(
    `${verdict}  ${cli.provider} ${cli.version} ${way} that ${fault.name}: ${fault.certification} (${(row.ms / 1000).toFixed(1)} s)`,
  );
  if (isCaught) process.stderr.write(`  caught by: ${firstLine(error)}\n`);
  return isCaught;
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
}
