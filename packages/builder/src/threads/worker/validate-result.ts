import { type AgentSessionHandle, type AgentTurnResult, nativeIdOf } from '@holdfast/agent';
import type { JsonValue } from '../../persistence/store.js';
import type {
  AdvisoryUsage,
  CodingPatch,
  ImplementationArtifact,
  ReviewInput,
  ValidationEvidence,
} from '../coding-job.js';
import type { ThreadResult } from '../store/thread-record.js';
import { derivePatch } from '../workspace/canonical-patch.js';
import type { Workspace } from '../workspace/workspace.js';
import { encodeAdapterState } from './adapter-state.wire.js';
import type { CodingSession } from './coding-session.js';
import type { ValidatedJob } from './job-run.js';
import { boundsOf, policyOf, proveReviewed } from './prepare-workspace.js';
import { readClaims } from './read-claims.wire.js';
import { readReview } from './read-review.wire.js';

/** A turn that ended well, before anything of it is believed. */
export interface EndedTurn {
  readonly job: ValidatedJob;
  readonly session: CodingSession;
  readonly workspace: Workspace;
  readonly turn: AgentTurnResult;
  readonly validationEvidence: readonly ValidationEvidence[];
}

/** Turns what a turn left into the result of its role; what is no such result is a typed refusal. */
export async function validateResult(ended: EndedTurn): Promise<ThreadResult> {
  const { job, session, turn } = ended;
  const { handle } = turn;
  const { reviewInput } = job.coding;
  const own = reviewInput ? await readReviewed(ended, reviewInput) : await readImplemented(ended);
  return {
    outcome: { ...own, usage: usageOf(turn), evidence: evidenceOf(ended, handle) },
    adapterState: encodeAdapterState({ handle, model: session.model }),
  };
}

async function readReviewed({ job, workspace, turn }: EndedTurn, input: ReviewInput) {
  await proveReviewed(job, workspace, input);
  return { outcome: 'reviewed', review: readReview(turn.answer, input) } as const;
}

async function readImplemented(ended: EndedTurn) {
  const { job, workspace, turn } = ended;
  const { coding, git } = job;
  const bounds = boundsOf(job);
  const derived = await derivePatch(git, { workspace, bounds, policy: policyOf(job) });
  const { patchDigest, changedPaths } = derived;
  const { baseRevision } = coding;
  const patch: CodingPatch = { baseRevision, patch: derived.patch, patchDigest, changedPaths };
  // Half a character has no digest, and a record that holds one cannot be sealed.
  const finalMessage = turn.answer.slice(0, MAX_FINAL_MESSAGE).toWellFormed();
  if (derived.outcome === 'no-change')
    return { outcome: 'no-change', patch, finalMessage } as const;
  return {
    outcome: 'implemented',
    patch,
    artifact: artifactOf(ended, patch),
    finalMessage,
  } as const;
}

/** Characters; what a CLI says at the end is for people. */
const MAX_FINAL_MESSAGE = 32 * 1024;

function artifactOf(
  { job, turn, validationEvidence }: EndedTurn,
  { patchDigest, changedPaths, baseRevision }: CodingPatch,
): ImplementationArtifact {
  const { coding, spec } = job;
  return {
    schemaVersion: 1,
    adapterContractDigest: spec.trusted.adapterContractDigest,
    repositoryDigest: coding.repository.digest,
    ...{ baseRevision, patchDigest, changedPaths, validationEvidence },
    resolvedFindingIds: readClaims(turn.answer, coding.remediation),
  };
}

function usageOf({ usage }: AgentTurnResult): AdvisoryUsage | undefined {
  if (!usage) return undefined;
  return {
    inputTokens: usage.inputTokens,
    cachedInputTokens: usage.cacheReadTokens ?? 0,
    outputTokens: usage.outputTokens,
    authoritative: false,
  };
}

/** For people: how the turn was run, and nothing that anybody wrote. */
function evidenceOf(
  { job, session, turn }: EndedTurn,
  handle: AgentSessionHandle,
): Readonly<Record<string, JsonValue | undefined>> {
  const { adapter } = job.found;
  const { permissionSource, permissionMode } = job.policy;
  const { launcher } = session.plan.config;
  return {
    adapterId: adapter.adapterId,
    adapterVersion: adapter.adapterVersion,
    adapterProtocolVersion: adapter.adapterProtocolVersion,
    permissionSource,
    permissionMode,
    nativeId: nativeIdOf(handle),
    nativeModel: session.model,
    turnId: turn.turnId,
    enforcement: launcher ? 'namespace' : 'cli',
    unenforced: session.plan.unenforced,
  };
}
