import type { LegacySessionKey } from '../wire/extract-handle.js';
import { findProvider, listProviders } from './registry.js';

/** Keys of older systems for CLIs that have no folder here; a folder's own definition names its key. */
const WITHOUT_FOLDER: readonly LegacySessionKey[] = [
  { provider: 'cursor-cli', key: 'cursor_session_id' },
  { provider: 'pi-cli', key: 'pi_session_id' },
  { provider: 'agy-cli', key: 'agy_session_id' },
  { provider: 'gemini-cli', key: 'gemini_session_id' },
];

/** Every key under which an older system may have kept a native id, and whose id it is. */
export function findLegacySessionKeys(): readonly LegacySessionKey[] {
  const registered = listProviders().flatMap((provider) => {
    const key = findProvider(provider)?.legacySessionIdKey;
    return key === undefined ? [] : [{ provider, key }];
  });
  return [...registered, ...WITHOUT_FOLDER];
}
