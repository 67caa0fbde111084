import { randomBytes } from 'node:crypto';
import { type Logger, StateUnusableError } from '@holdfast/agent';
import { keys } from '../persistence/keys.js';
import type { Store } from '../persistence/store.js';
import { encodeSecret, findSecret } from './bridge-records.wire.js';

const KEY = keys.bridge('secret.json');
const TRIES = 3;

/** The secret of this data directory; made by whoever is first. A damaged one is replaced, and its tokens end. */
export async function readOrMakeSecret(store: Store, logger?: Logger): Promise<Uint8Array> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const read = await store.read(KEY);
    if (read.state === 'present') {
      const secret = findSecret(read.value);
      if (secret) return secret;
      await store.setAside(KEY);
    }
    if (read.state !== 'absent') {
      logger?.error(
        {},
        'secret of the sub-agents replaced: tokens given out before it are refused',
      );
    }
    const made = randomBytes(32);
    if (await store.write(KEY, encodeSecret(made), { mode: 'create' })) return made;
  }
  throw new StateUnusableError(KEY.join('/'), 'damaged', 'its secret cannot be kept.');
}
