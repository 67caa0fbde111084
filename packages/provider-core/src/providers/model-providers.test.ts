import { describe, expect, it } from 'vitest';
import { defineModelProvider } from '../models/ai-sdk-model.js';
import {
  findModelProvider,
  findProvider,
  listModelProviders,
  listProviders,
  registerModelProvider,
} from './registry.js';

describe('the registry of model APIs', () => {
  it('keeps them apart from the CLIs', () => {
    expect(listModelProviders()).toHaveLength(4);
    for (const id of listModelProviders()) {
      expect(findModelProvider(id)).toMatchObject({ kind: 'model', id });
      expect(findProvider(id)).toBeUndefined();
      expect(listProviders()).not.toContain(id);
    }
  });

  it("takes one of the caller's own, under an id that is free", () => {
    const own = defineModelProvider({
      id: 'my-models',
      displayName: 'Mine',
      package: 'p',
      load: async () => () => 'm',
    });
    registerModelProvider(own);
    expect(findModelProvider('my-models')).toBe(own);
    expect(() => registerModelProvider(own)).toThrow('registered already');
    for (const id of listProviders()) {
      expect(() => registerModelProvider({ ...own, id })).toThrow('registered already');
    }
  });
});
