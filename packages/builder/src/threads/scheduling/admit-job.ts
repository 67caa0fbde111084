import type { JsonValue } from '../../persistence/store.js';
import type { CodingJobInput } from '../coding-job.js';
import { CodingThreadError } from '../coding-thread-error.js';
import type { CodingAdapterContract } from '../contract/adapter-contract.wire.js';
import { digestContract } from '../contract/adapter-contract.wire.js';
import { decodeCodingJob } from '../contract/coding-job.wire.js';
import { buildTurnSpec } from '../contract/coding-turn-spec.wire.js';
import type { ThreadOwner } from '../contract/thread-scope.js';
import { checkLiterals } from '../execution/worker-environment.js';
import type { CodingWorkerSpec } from '../worker/worker-spec.js';
import type { CodingDesk } from './coding-desk.js';
import { type CodingRunner, scopeOf } from './coding-runner.js';
import {
  checkRunnerFit,
  describeRunner,
  type RunnerDescription,
  unfit,
} from './describe-runner.js';
import { findExecutable } from './find-executable.js';
import { nameKey } from './runner-key.js';

/** What is asked to be admitted: plain JSON, and what only the service knows. */
export interface AdmissionRequest {
  readonly jobId: string;
  readonly input: JsonValue;
  readonly owner: ThreadOwner;
  readonly runnerId?: string | undefined;
}

/** A job that may be run. */
export interface AdmittedJob {
  readonly runner: CodingRunner;
  readonly spec: CodingWorkerSpec;
  readonly contract: CodingAdapterContract;
}

/** Judges a job before anything is kept of it; a refusal is a `CodingThreadError`. */
export async function admitJob(desk: CodingDesk, request: AdmissionRequest): Promise<AdmittedJob> {
  const runner = findRunner(desk, request);
  checkLiterals(runner.options.cli ?? {});
  const decoded = decodeCodingJob(request.input, {
    repositoryUriPrefix: desk.options.repositoryUriPrefix,
    authenticationProfile: runner.authenticationProfile,
    allowedModels: runner.policy.allowedModels,
  });
  const description = await describeRunner(desk, runner);
  checkRunnerFit(runner, description, decoded.coding);
  const job = nameOperation(decoded, request.jobId);
  const spec = buildSpec(desk, { runner, description, job, request });
  return { runner, spec, contract: description.contract };
}

/** A directive is pinned to its runner, and goes to no other. */
function findRunner(
  { runners }: CodingDesk,
  { input, runnerId: asked }: AdmissionRequest,
): CodingRunner {
  const pinned = findPinnedRunner(input);
  if (pinned !== undefined && asked !== undefined && asked !== pinned) {
    throw new CodingThreadError('invalid_job', 'The directive of this job names another runner.', {
      evidence: { path: 'coding.thread.runnerId', rule: `must be ${asked}` },
    });
  }
  const [only, ...others] = runners.values();
  const wanted = pinned ?? asked ?? (others.length === 0 ? only?.runnerId : undefined);
  if (!only) throw unfit('There is no runner here.', {});
  if (wanted === undefined) {
    throw new CodingThreadError(
      'invalid_job',
      'This job must name its runner: there are several.',
      {
        evidence: { path: 'runnerId', rule: 'is required' },
      },
    );
  }
  const runner = runners.get(wanted);
  if (runner) return runner;
  throw unfit(`There is no runner ${wanted} here.`, { evidence: { runnerId: wanted } });
}

/** Read before the rules are known, which are the runner's. */
function findPinnedRunner(input: JsonValue): string | undefined {
  const pinned = fieldOf(fieldOf(fieldOf(input, 'coding'), 'thread'), 'runnerId');
  return typeof pinned === 'string' ? pinned : undefined;
}

function fieldOf(value: unknown, name: string): unknown {
  const isObject = typeof value === 'object' && value !== null;
  return isObject ? new Map<string, unknown>(Object.entries(value)).get(name) : undefined;
}

/** The operation is the job's own where the directive names none, and the same at every try. */
function nameOperation(job: CodingJobInput, jobId: string): CodingJobInput {
  const { thread } = job.coding;
  if (!thread || thread.operationId !== undefined) return job;
  return { ...job, coding: { ...job.coding, thread: { ...thread, operationId: jobId } } };
}

interface SpecParts {
  readonly runner: CodingRunner;
  readonly description: RunnerDescription;
  readonly job: CodingJobInput;
  readonly request: AdmissionRequest;
}

function buildSpec(
  desk: CodingDesk,
  { runner, description, job, request }: SpecParts,
): CodingWorkerSpec {
  const { options, runners, dataDir, workspacesDir } = desk;
  const { contract, binary } = description;
  const { authenticationProfile, policy } = runner;
  const turn = buildTurnSpec(job, { contract, authenticationProfile, policy });
  const bubblewrap = findExecutable('bwrap', options.bubblewrap);
  const cli = describeCli(runner, job, binary);
  return {
    schemaVersion: 1,
    turn,
    operationId: job.coding.thread?.operationId ?? request.jobId,
    trusted: {
      scope: scopeOf(options, runners, request.owner),
      authenticationProfile,
      adapterContractDigest: digestContract(contract),
      manifestDigest: turn.materializationManifestDigest,
      policy: { ...policy },
    },
    adapterId: runner.adapter.adapterId,
    cli,
    otherHomes: listHomes(runners).filter((home) => home !== cli.cliHome),
    repositoryUriPrefix: options.repositoryUriPrefix,
    ...{ dataDir, workspacesDir },
    git: findGit(options.git),
    ...(bubblewrap === undefined ? {} : { bubblewrap }),
    inactivityMs: runner.inactivityMs,
  };
}

function describeCli(
  { options }: CodingRunner,
  { coding }: CodingJobInput,
  binary: string | undefined,
): CodingWorkerSpec['cli'] {
  const cliHome = options.cliHomes?.[coding.role ?? 'implement'];
  return {
    ...nameKey(options.cli),
    ...(binary === undefined ? {} : { binary }),
    ...(cliHome === undefined ? {} : { cliHome }),
  };
}

function listHomes(runners: CodingDesk['runners']): readonly string[] {
  const homes = [...runners.values()].flatMap(({ options }) =>
    Object.values(options.cliHomes ?? {}),
  );
  return [...new Set(homes)].sort();
}

function findGit(configured: string | undefined): string {
  const git = findExecutable('git', configured);
  if (git !== undefined) return git;
  throw unfit('There is no git here.', { evidence: { missing: configured ?? 'git' } });
}
