import { isAbsolute, join, relative } from 'node:path';
import {
  type FoundCodingAdapter,
  faultPoint,
  findCodingAdapter,
  systemClock,
} from '@holdfast/agent';
import type { CodingRequest } from '../coding-job.js';
import { CodingThreadError } from '../coding-thread-error.js';
import { digestAdapter } from '../contract/adapter-contract.wire.js';
import { digestOfJson } from '../contract/canonical-json.js';
import type { CodingPolicy } from '../contract/coding-policy.wire.js';
import { type CodingTurnSpec, decodeTurnSpec } from '../contract/coding-turn-spec.wire.js';
import { checkManifestDigest } from '../contract/materialization-manifest.wire.js';
import { nameThread } from '../store/thread-files.js';
import { createGit } from '../workspace/git.js';
import type { CodingJobRun, ValidatedJob } from './job-run.js';
import type { CodingStep, CodingWorkerSpec } from './worker-spec.js';

/** Validates a spec again, as if nobody had admitted it. Touches nothing. */
export function validateSpec({
  clock = systemClock,
  deadlineAt,
  ...run
}: CodingJobRun): ValidatedJob {
  const { spec, report } = run;
  const enter = (step: CodingStep) => {
    faultPoint(`coding/${step}`);
    report({ type: 'step', step });
  };
  enter('validate_spec');
  const found = findAdapter(spec);
  const coding = readTurn(spec, found);
  checkOperation(spec, coding);
  for (const path of [spec.git, spec.dataDir, spec.workspacesDir]) checkAbsolute(path);
  return {
    ...run,
    clock,
    ...{ coding, enter, found },
    role: coding.role,
    policy: policyOf(coding),
    git: createGit({ file: spec.git }),
    root: jobRootOf(spec),
    writableRoots: relativeRootsOf(coding),
    remainingMs: () => {
      const at = typeof deadlineAt === 'function' ? deadlineAt() : deadlineAt;
      return at === undefined ? undefined : at - clock.now();
    },
  };
}

/** Reads the turn by the rules of jobs, roles, policies and manifests, and holds it to what the thread is bound to. */
function readTurn(
  { turn, trusted, repositoryUriPrefix }: CodingWorkerSpec,
  { adapter }: FoundCodingAdapter,
): CodingTurnSpec {
  const contract = { compatibilityDigest: digestAdapter(adapter) };
  const { permissionModes } = adapter;
  const coding = decodeTurnSpec(turn, { repositoryUriPrefix, contract, permissionModes });
  checkManifestDigest(trusted.manifestDigest, coding, contract);
  if (coding.authenticationProfile === trusted.authenticationProfile) return coding;
  throw unfit('the turn and the binding of its thread name different authentication profiles');
}

function policyOf({ policy }: CodingTurnSpec): CodingPolicy {
  if (policy) return policy;
  throw unfit('its turn has no policy');
}

/** A spec without its directive's operation would make a second job of a repeat. */
function checkOperation({ operationId, schemaVersion }: CodingWorkerSpec, coding: CodingRequest) {
  if (schemaVersion !== 1) throw unfit(`it cannot read a spec of version ${String(schemaVersion)}`);
  if (operationId === '') throw unfit('the spec names no operation');
  if (!coding.thread || coding.thread.operationId === operationId) return;
  throw unfit('the spec and its directive name different operations');
}

function checkAbsolute(path: string): void {
  if (!isAbsolute(path)) throw unfit(`${JSON.stringify(path)} is no absolute path`);
}

function findAdapter({ adapterId }: CodingWorkerSpec): FoundCodingAdapter {
  const found = findCodingAdapter(adapterId);
  if (found) return found;
  throw unfit(`it has no coding adapter ${JSON.stringify(adapterId)}`);
}

function unfit(why: string): CodingThreadError {
  return new CodingThreadError('runner_unfit', `This worker cannot run the job: ${why}.`);
}

/** The folder of a job. A thread has one for all its jobs; a job without a directive has one for itself. */
export function jobRootOf({
  workspacesDir,
  trusted,
  operationId,
  turn: { thread },
}: CodingWorkerSpec): string {
  if (thread)
    return threadRootOf(workspacesDir, { scope: trusted.scope, sessionRef: thread.sessionRef });
  const digest = digestOfJson({ scope: trusted.scope, operationId });
  return join(workspacesDir, `job-${digest.slice('sha256:'.length).slice(0, 24)}`);
}

/** The folder of a thread; short, since sockets stand below it. */
export function threadRootOf(
  workspacesDir: string,
  place: Parameters<typeof nameThread>[0],
): string {
  return join(workspacesDir, nameThread(place).slice(0, 24));
}

function relativeRootsOf({
  role,
  writableRoots,
  workspaceRoot,
}: CodingTurnSpec): readonly string[] {
  if (role === 'review') return ['.'];
  return writableRoots.map((root) => relative(workspaceRoot, root) || '.');
}
