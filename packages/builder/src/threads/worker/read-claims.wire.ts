import * as z from 'zod';
import type { Remediation } from '../coding-job.js';

const claims = z.object({ resolvedFindingIds: z.array(z.string()) });

/**
 * The findings that an implementer says it has resolved, as the last JSON object of that form in its answer names them. What
 * nobody found counts for nothing, and prose claims nothing.
 */
export function readClaims(
  answer: string,
  remediation: Remediation | undefined,
): readonly string[] {
  if (!remediation) return [];
  const last = answer.match(/\{[^{}]*"resolvedFindingIds"[^{}]*\}/g)?.at(-1);
  const claimed = new Set(last === undefined ? [] : parseClaims(last));
  return remediation.priorReview.findings
    .map(({ findingId }) => findingId)
    .filter((findingId) => claimed.has(findingId));
}

function parseClaims(text: string): readonly string[] {
  try {
    return claims.safeParse(JSON.parse(text)).data?.resolvedFindingIds ?? [];
  } catch {
    return [];
  }
}
