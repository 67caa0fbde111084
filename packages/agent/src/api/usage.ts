import type { Usage } from '@holdfast/provider-core';

/** The sum of two usages; absent when neither is known. A part that one of them lacks counts as nothing there. */
export function addUsage(one: Usage | undefined, other: Usage | undefined): Usage | undefined {
  if (!one || !other) return one ?? other;
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    ...sumOf('cacheReadTokens', one, other),
    ...sumOf('cacheWriteTokens', one, other),
    ...sumOf('costUsd', one, other),
  };
}

function sumOf(
  key: 'cacheReadTokens' | 'cacheWriteTokens' | 'costUsd',
  one: Usage,
  other: Usage,
): Partial<Usage> {
  if (one[key] === undefined && other[key] === undefined) return {};
  return { [key]: (one[key] ?? 0) + (other[key] ?? 0) };
}
