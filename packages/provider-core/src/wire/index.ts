export { extractHandle, type LegacySessionKey } from './extract-handle.js';
export {
  type CodingProviderSessionHandleJson,
  codingProviderSessionHandleCodec,
  decodeCodingProviderSessionHandle,
  encodeCodingProviderSessionHandle,
} from './provider-session-handle.wire.js';
export { snakeCaseCodec } from './snake-case-codec.js';
