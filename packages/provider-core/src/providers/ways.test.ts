import { describe, expect, it } from 'vitest';
import {
  findProvider,
  listModelProviders,
  listProviders,
  providerCapabilities,
} from './registry.js';
import { compareVersions, holdsFor, listWays } from './ways.js';

describe('what a provider claims', () => {
  it('is told by way: what holds in tmux, and where that way differs', () => {
    for (const id of listProviders()) {
      const definition = findProvider(id);
      for (const way of definition ? listWays(definition) : []) {
        const claims = providerCapabilities(id, way);
        expect(claims.tmuxContinuation).toBe(way === 'tmux');
        expect(claims.continuation).toBe('native');
      }
    }
  });

  it('is the first way’s where none is named, and nothing native for a model API', () => {
    for (const id of listProviders()) expect(providerCapabilities(id).tmuxContinuation).toBe(true);
    for (const id of listModelProviders()) {
      expect(providerCapabilities(id)).toMatchObject({ continuation: 'history' });
    }
  });

  it('is a TypeError for an id nobody registered and for a way it does not have', () => {
    expect(() => providerCapabilities('nobody')).toThrow(TypeError);
    for (const id of listModelProviders()) {
      expect(() => providerCapabilities(id, 'tmux')).toThrow(TypeError);
    }
  });

  it('holds for a version by number, not by letter', () => {
    expect(compareVersions('2.1.1000', '2.1.332')).toBeGreaterThan(0);
    expect(compareVersions('2.1.99', '2.1.332')).toBeLessThan(0);
    expect(holdsFor({ since: '2.1.332' }, '2.1.197')).toBe(false);
    expect(holdsFor({ since: '2.1.197' }, '2.1.197')).toBe(true);
    expect(holdsFor(true, '0.0.1')).toBe(true);
  });
});
