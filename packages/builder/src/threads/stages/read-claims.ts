import type { CodingOutcome } from '../coding-job.js';

/**
 * Which of some findings an implementer says it has resolved: in its artifact, or in a line of JSON of its last message. One
 * that was given the findings as text has them in no artifact. Claims alone: a reviewer decides.
 */
export function readClaims(
  { artifact, finalMessage = '' }: CodingOutcome,
  known: readonly string[],
): readonly string[] {
  const said = finalMessage.split('\n').flatMap(readLine);
  const claimed = new Set([...(artifact?.resolvedFindingIds ?? []), ...said]);
  return known.filter((id) => claimed.has(id));
}

function readLine(line: string): readonly string[] {
  const text = line.trim();
  if (!text.startsWith('{') || !text.endsWith('}')) return [];
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || !('resolvedFindingIds' in value)) return [];
    const { resolvedFindingIds: ids } = value;
    return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
  } catch {
    return [];
  }
}
