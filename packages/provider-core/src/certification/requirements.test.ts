import { describe, expect, it } from 'vitest';
import * as providers from '../providers/index.js';
import type { ProviderCapabilities } from '../spec/capabilities.js';
import { certifyProvider } from './certify.js';
import { certificationIds, listBoundRequirements, requirements } from './requirements.js';
import type { Claims } from './subject.js';

const definitions: readonly Claims[] = Object.values(providers);

const nothingClaimed: Claims = {
  capabilities: {
    tmuxContinuation: false,
    nativeResumeInTmux: false,
    requiresStableWorkingDir: false,
    continuation: 'history',
    process: { outlives: false },
    durableBeforeTools: false,
    finishesInterruptedTurns: false,
    stableFields: [],
    settings: {
      model: 'reported',
      permissions: 'reported',
      systemPrompt: 'reported',
      mcpServers: 'reported',
    },
  },
  transports: {},
};

/** Every claim of these capabilities as `name` and the capabilities without it. */
function listClaims(claims: Claims): readonly (readonly [string, Claims])[] {
  const { capabilities } = claims;
  const without = (name: string, change: Partial<ProviderCapabilities>) =>
    [name, { ...claims, capabilities: { ...capabilities, ...change } }] as const;
  return [
    without('tmuxContinuation', { tmuxContinuation: false }),
    without('nativeResumeInTmux', { nativeResumeInTmux: false }),
    without('requiresStableWorkingDir', { requiresStableWorkingDir: false }),
    without('continuation', { continuation: 'history' }),
    without('process.outlives', { process: { outlives: false } }),
    ...(capabilities.durableBeforeTools
      ? [without('durableBeforeTools', { durableBeforeTools: false })]
      : []),
    ...(capabilities.finishesInterruptedTurns
      ? [without('finishesInterruptedTurns', { finishesInterruptedTurns: false })]
      : []),
    ...capabilities.stableFields.map((field) =>
      without(`stableFields.${field}`, {
        stableFields: capabilities.stableFields.filter((other) => other !== field),
      }),
    ),
  ];
}

describe('claims and certifications', () => {
  it('bind each other: taking back any claim frees a provider of some certification', () => {
    for (const definition of definitions) {
      const bound = listBoundRequirements(definition).length;
      for (const [claim, less] of listClaims(definition)) {
        expect(listBoundRequirements(less).length, claim).toBeLessThan(bound);
      }
    }
  });

  it('leave no certification that no claim needs', () => {
    expect(listBoundRequirements(nothingClaimed)).toEqual([]);
    const bound = definitions.flatMap((definition) => listBoundRequirements(definition));
    expect(new Set(bound.map(([id]) => id))).toEqual(new Set(certificationIds));
  });

  it('hold the five certifications of the seed', () => {
    expect(certificationIds).toEqual(
      expect.arrayContaining([
        'CertSessionContinuationAfterTmuxLoss',
        'CertNativeResumeOnlyLatestMessage',
        'CertHandleRoundTrip',
        'CertNonContinuableError',
        'CertStableWorkingDir',
      ]),
    );
  });

  it('are registered with the runner that is handed in, one test each', () => {
    for (const definition of Object.values(providers)) {
      const titles: string[] = [];
      certifyProvider(definition, {
        test: (title) => titles.push(title),
        createSubject: () => Promise.reject(new Error('not run here')),
      });
      const bound = listBoundRequirements(definition);
      expect(titles).toEqual(bound.map(([id]) => `${definition.id}: ${id}`));
    }
  });

  it('say in one sentence what they show', () => {
    for (const { behaviour } of Object.values(requirements)) {
      expect(behaviour).toMatch(/^[A-Z].*\.$/);
    }
  });
});
