import { describe, expect, it } from 'vitest';
import { temporaryStore } from '../../persistence/__fixtures__/temporary-store.js';
import { keys } from '../../persistence/keys.js';
import { getPatch, storePatch } from './patch-artifacts.js';
import { digestPatch } from './patch-text.js';

const patch = 'diff --git a/ä b/ä\n+\ufeff\r\n';

describe('patches as artifacts', () => {
  it('are found by their digest alone, and stored once', async () => {
    const { store } = await temporaryStore();
    const digest = await storePatch(store, patch);
    expect(digest).toBe(digestPatch(patch));
    expect(await storePatch(store, patch)).toBe(digest);
    expect(await getPatch(store, digest)).toBe(patch);
    expect(await store.list(['threads', 'artifacts'])).toEqual([`${digest.slice(7)}.json`]);
  });

  it('are refused when they are absent, edited or another, and mended by storing them anew', async () => {
    const { store } = await temporaryStore();
    const digest = digestPatch(patch);
    const absent = getPatch(store, digest);
    await expect(absent).rejects.toMatchObject({ kind: 'state_unusable' });
    for (const value of [{ patch: `${patch} ` }, { patch: 1 }, {}, 'text', null]) {
      await store.write(keys.threadArtifact(digest), value);
      await expect(getPatch(store, digest)).rejects.toMatchObject({ kind: 'state_unusable' });
    }
    await storePatch(store, patch);
    expect(await getPatch(store, digest)).toBe(patch);
  });
});
