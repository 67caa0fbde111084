import type { Finding } from '../coding-job.js';

/** The most that a job's text may hold, in bytes. */
const MAX_TEXT_BYTES = 64 * 1024;

/** The form in which an implementer says what it has mended. */
const CLAIM_FORM =
  'When you are done, end your last message with one line of JSON that names the findings you have resolved, and only those: {"resolvedFindingIds": ["<id>", …]}';

/** What the reviewer of a candidate is told; requirements, candidate and evidence stand in the job itself. */
export function reviewText({ isAgain }: { readonly isAgain: boolean }): string {
  return isAgain
    ? 'The candidate was changed because of the findings. Review it anew against the requirements: say of each earlier finding whether it is resolved, by naming it again under its id where it is not, and name what is new.'
    : 'Review the candidate against the requirements. Name everything that must change before it can be accepted.';
}

/** What an implementer is told that is given a review in its job. */
export const REMEDIATION_TEXT = 'A reviewer asks for changes: resolve the findings of the review.';

/** What a close is called; no model reads it. */
export const CLOSE_TEXT = 'Close this conversation.';

/** What an implementer needs in order to go on. */
export interface MendRequest {
  /** The stage's prompt: only for a conversation that was never told it. */
  readonly prompt?: string | undefined;
  /** The patch to go on from, where the workspace does not hold it. */
  readonly patch?: string | undefined;
  readonly findings: readonly Finding[];
}

/** What an implementer is told that is to mend findings; the patch is left out where it does not fit. */
export function mendText({ prompt, patch, findings }: MendRequest): string {
  const whole = [prompt, patch && takeOver(patch), askFor(findings), CLAIM_FORM];
  const text = join(whole);
  if (Buffer.byteLength(text) <= MAX_TEXT_BYTES) return text;
  const without = [prompt, patch && FROM_THE_BASE, nameThem(findings), CLAIM_FORM];
  return clip(join(without));
}

const FROM_THE_BASE =
  'An earlier implementer worked on this, and its change is not in the workspace. It is too large to be given here: begin from the base.';

function takeOver(patch: string): string {
  return [
    'An earlier implementer worked on this. Its change is not in the workspace: apply this patch to the base first, and go on from there.',
    '```diff',
    patch.endsWith('\n') ? patch.slice(0, -1) : patch,
    '```',
  ].join('\n');
}

function askFor(findings: readonly Finding[]): string {
  return `A review asks for changes. Resolve each of these findings:\n${JSON.stringify(findings, undefined, 2)}`;
}

function nameThem(findings: readonly Finding[]): string {
  const lines = findings.map(
    ({ findingId, location, requiredResolution }) =>
      `- ${findingId} (${location}): ${requiredResolution.slice(0, 500)}`,
  );
  return ['A review asks for changes. Resolve each of these findings:', ...lines].join('\n');
}

function join(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join('\n\n');
}

function clip(text: string): string {
  if (Buffer.byteLength(text) <= MAX_TEXT_BYTES) return text;
  const kept = Buffer.from(text).subarray(0, MAX_TEXT_BYTES - 512 - Buffer.byteLength(CLAIM_FORM));
  // What is cut in the middle of a character is no text.
  return `${new TextDecoder().decode(kept).replace(/\uFFFD$/, '')}\n…\n\n${CLAIM_FORM}`;
}
