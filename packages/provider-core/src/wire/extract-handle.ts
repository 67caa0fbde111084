import type { CodingProviderSessionHandle } from '../spec/provider-session-handle.js';
import { decodeCodingProviderSessionHandle } from './provider-session-handle.wire.js';

/** The keys under which older systems kept a native id, and whose id it is. */
export interface LegacySessionKey {
  readonly provider: string;
  readonly key: string;
}

/**
 * Finds a provider session handle in a response, a metadata object or JSON text: the object itself, its
 * `coding_provider_session_handle`, or one of the older per-provider keys. Nothing found gives `undefined`.
 */
export function extractHandle(
  value: unknown,
  legacyKeys: readonly LegacySessionKey[],
): CodingProviderSessionHandle | undefined {
  const fields = readFields(value);
  if (!fields) return undefined;
  const nested = fields['coding_provider_session_handle'] ?? fields['codingProviderSessionHandle'];
  if (nested !== undefined) return decodeCodingProviderSessionHandle(nested);
  if ('provider' in fields && 'transport' in fields)
    return decodeCodingProviderSessionHandle(fields);
  for (const { provider, key } of legacyKeys) {
    const nativeId = fields[key];
    if (typeof nativeId !== 'string' || !nativeId.trim()) continue;
    return decodeCodingProviderSessionHandle({
      provider,
      transport: 'tmux',
      native_session_id: nativeId,
      working_dir: fields['working_dir'],
      project_dir_id: fields['gemini_project_dir_id'] ?? fields['project_dir_id'],
    });
  }
  return undefined;
}

function readFields(value: unknown): Record<string, unknown> | undefined {
  if (typeof value === 'string') {
    try {
      return readFields(JSON.parse(value));
    } catch {
      return undefined;
    }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return { ...value };
}
