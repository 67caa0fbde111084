import { describe, expect, it } from 'vitest';
import { defineModelProvider } from './ai-sdk-model.js';
import { loadPeer } from './load-peer.js';

describe('a model API whose package is not installed', () => {
  it('says which package to install', async () => {
    const missing = 'no-such-package-of-a-vendor';
    const provider = defineModelProvider({
      id: 'elsewhere',
      displayName: 'Elsewhere',
      package: missing,
      baseUrl: 'http://127.0.0.1:9',
      load: () => import(missing),
    });
    await expect(provider.openModel({ model: 'm' })).rejects.toMatchObject({
      kind: 'cli_unusable',
      subject: missing,
      reason: 'missing',
      message: expect.stringContaining(`npm install ai ${missing}`),
    });
  });

  it('is told apart from one that is there', async () => {
    await expect(loadPeer('a', async () => 1)).resolves.toBe(1);
  });
});

describe('a model API without an address of its own', () => {
  it('takes none for granted', async () => {
    const provider = defineModelProvider({
      id: 'elsewhere',
      displayName: 'Elsewhere',
      package: 'p',
      load: async () => () => 'm',
    });
    await expect(provider.openModel({ model: 'm' })).rejects.toThrow('needs a baseUrl');
  });
});
