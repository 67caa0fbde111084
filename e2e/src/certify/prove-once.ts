import { type CertificationId, requirements } from '@holdfast/provider-core/certification';
import { RealSubject } from '../harness/real-subject.js';
import type { RealSubjectOptions } from '../harness/real-subject-options.js';
import type { PlantedFault } from '../planted/fault-list.js';
import { plantInMachine } from '../planted/plant-in-machine.js';
import { wrapCli } from '../planted/wrap-cli.js';
import type { CertificationOutcome, CertificationRow } from './certification-row.js';
import { withLimit } from './with-limit.js';

/** What a planted fault keeps from happening need not be waited for long. */
const PLANTED_DEADLINE_MS = 10_000;

/** A fault may well keep a proof from ending: it is caught then, and need not be waited for as long as a sound one. */
const PLANTED_LIMIT_MS = 90_000;

export interface ProofJob extends RealSubjectOptions {
  readonly certification: CertificationId;
  /** A fault that the proof must catch. */
  readonly fault?: PlantedFault;
}

/** Runs one proof on a subject of its own. Leftovers after its close fail it too. */
export async function proveOnce(job: ProofJob): Promise<CertificationOutcome> {
  const started = performance.now();
  let error: unknown;
  try {
    await prove(job);
  } catch (reason) {
    error = reason ?? new Error('The proof was rejected without a reason.');
  }
  const row: CertificationRow = {
    id: job.certification,
    provider: job.cli.provider,
    way: job.way ?? 'tmux',
    cliVersion: job.cli.version,
    node: process.versions.node.split('.')[0] ?? '',
    layer: job.layer,
    evidence: 'real-binary',
    status: error === undefined ? 'passed' : 'failed',
    ms: Math.round(performance.now() - started),
  };
  return { row, ...(error !== undefined && { error }) };
}

async function prove({ certification, fault, ...options }: ProofJob): Promise<void> {
  const subject = await RealSubject.create({ ...options, plant: fault?.layer });
  if (fault) await plant(subject, fault, options.cli.binary);
  let proofError: unknown;
  try {
    await withLimit(requirements[certification].prove(subject), fault && PLANTED_LIMIT_MS);
  } catch (error) {
    proofError = error;
    subject.keepPlace();
  }
  try {
    await subject[Symbol.asyncDispose]();
  } catch (error) {
    proofError ??= error;
  }
  if (proofError !== undefined) throw proofError;
}

async function plant(subject: RealSubject, fault: PlantedFault, binary: string): Promise<void> {
  subject.useDeadline(PLANTED_DEADLINE_MS);
  if (fault.cli) subject.useBinary(await wrapCli(fault.cli, binary, subject.place.root));
  if (fault.machine) plantInMachine(subject, fault.machine);
}
