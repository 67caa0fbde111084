import { findLegacySessionKeys } from './providers/legacy-session-keys.js';
import type { CodingProviderSessionHandle } from './spec/provider-session-handle.js';
import { extractHandle } from './wire/extract-handle.js';

export {
  type CodingProviderSessionHandleJson,
  codingProviderSessionHandleCodec,
  decodeCodingProviderSessionHandle,
  encodeCodingProviderSessionHandle,
} from './wire/provider-session-handle.wire.js';
export { snakeCaseCodec } from './wire/snake-case-codec.js';

/**
 * Finds a provider session handle in a response, a metadata object or JSON text: the object itself, its
 * `coding_provider_session_handle`, or one of the older per-provider keys (`claude_code_session_id`,
 * `codex_thread_id`, …). Nothing found gives `undefined`; what calls itself a handle and is none throws
 * `non_continuable`.
 */
export function extractCodingProviderSessionHandle(
  value: unknown,
): CodingProviderSessionHandle | undefined {
  return extractHandle(value, findLegacySessionKeys());
}
