import { describe, expect, it } from 'vitest';
import { modelCapabilities } from '../../providers/model-capabilities.js';
import type { ProviderCapabilities, Verb } from '../../spec/capabilities.js';
import {
  historyCertificationIds,
  historyRequirements,
  listBoundHistoryRequirements,
} from './history-requirements.js';

const all = modelCapabilities;

/** Every claim of the model APIs, and what is left of the claims without it. */
const taken: readonly (readonly [string, ProviderCapabilities])[] = [
  ['continuation', { ...all, continuation: 'native' }],
  ['durableBeforeTools', { ...all, durableBeforeTools: false }],
  ['requiresStableWorkingDir', { ...all, requiresStableWorkingDir: false }],
  ['normalises', { ...all, normalises: ['anything'] }],
  ...all.stableFields.map(
    (field) =>
      [
        `stableFields.${field}`,
        { ...all, stableFields: all.stableFields.filter((other) => other !== field) },
      ] as const,
  ),
  ...Object.keys(all.settings).map(
    (setting) =>
      [
        `settings.${setting}`,
        { ...all, settings: { ...all.settings, [setting]: 'reported' } },
      ] as const,
  ),
  ...(Object.keys(all.verbs) as Verb[])
    .filter((verb) => all.verbs[verb])
    .map((verb) => [`verbs.${verb}`, { ...all, verbs: { ...all.verbs, [verb]: false } }] as const),
];

describe('the claims of model APIs and their certifications', () => {
  it.each(taken)('bind each other: %s needs a certification', (_claim, without) => {
    const left = listBoundHistoryRequirements(without);
    expect(historyCertificationIds.filter((id) => !left.includes(id))).not.toEqual([]);
  });

  it('leave no certification that no claim needs', () => {
    expect(listBoundHistoryRequirements(all)).toEqual(historyCertificationIds);
    const needed = taken.flatMap(([, without]) => {
      const left = listBoundHistoryRequirements(without);
      return historyCertificationIds.filter((id) => !left.includes(id));
    });
    expect(historyCertificationIds.filter((id) => !needed.includes(id))).toEqual([]);
  });

  it('claim nothing native, which no certification of theirs would show', () => {
    const { tmuxContinuation, nativeResumeInTmux, finishesInterruptedTurns, process } = all;
    expect([tmuxContinuation, nativeResumeInTmux, finishesInterruptedTurns]).toEqual([
      false,
      false,
      false,
    ]);
    expect(process.outlives).toBe(false);
  });

  it('say in one sentence what they show', () => {
    for (const { behaviour } of Object.values(historyRequirements)) {
      expect(behaviour).toMatch(/^[A-Z].*\.$/);
    }
  });
});
