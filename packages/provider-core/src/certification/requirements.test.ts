import { describe, expect, it } from 'vitest';
import * as providers from '../providers/index.js';
import type { ProviderCapabilities, Verb } from '../spec/capabilities.js';
import { type ClaimingDefinition, type Claims, claimsOf, listClaims } from './claims.js';
import { casesOf, certificationIds, listBoundRequirements, requirements } from './requirements.js';

const definitions: readonly ClaimingDefinition[] = Object.values(providers);
const everyClaims = definitions.flatMap((definition) =>
  listClaims(definition).map((claims) => [`${definition.id} ${claims.way}`, claims] as const),
);

const noVerbs: ProviderCapabilities['verbs'] = {
  interrupt: false,
  steer: false,
  approve: false,
  answer_question: false,
  archive: false,
  images: false,
  background_work: false,
  compaction: false,
  usage: false,
  cost: false,
};

const nothingClaimed: Claims = {
  way: 'tmux',
  driver: 'served_pane',
  ways: ['tmux'],
  deletesHistory: false,
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
    verbs: noVerbs,
    normalises: [],
  },
};

type Taken = readonly [claim: string, without: Claims];

/** Every claim of a way, and what is left of the claims without it. */
function takeBackEach(claims: Claims): readonly Taken[] {
  const { capabilities, way } = claims;
  const { verbs, settings, stableFields } = capabilities;
  const without = (claim: string, change: Partial<ProviderCapabilities>): Taken => [
    claim,
    { ...claims, capabilities: { ...capabilities, ...change } },
  ];
  const inTmux: readonly Taken[] = [
    without('tmuxContinuation', { tmuxContinuation: false }),
    without('nativeResumeInTmux', { nativeResumeInTmux: false }),
  ];
  const isClaimed = ([claim]: Taken) =>
    claim !== 'none' && (!(claim in capabilities) || Boolean(Reflect.get(capabilities, claim)));
  const all: readonly Taken[] = [
    ...(way === 'tmux' ? inTmux : []),
    without('requiresStableWorkingDir', { requiresStableWorkingDir: false }),
    without('continuation', { continuation: 'history' }),
    without('durableBeforeTools', { durableBeforeTools: false }),
    without('finishesInterruptedTurns', { finishesInterruptedTurns: false }),
    ...(capabilities.process.outlives
      ? [without('outlives', { process: { outlives: false } })]
      : []),
    ...stableFields.map((field) =>
      without(`stableFields.${field}`, {
        stableFields: stableFields.filter((other) => other !== field),
      }),
    ),
    ...Object.keys(settings).map((setting) =>
      without(`settings.${setting}`, { settings: { ...settings, [setting]: undefined } }),
    ),
    ...Object.keys(verbs)
      .filter((verb) => verbs[verb as Verb])
      .map((verb) => without(`verbs.${verb}`, { verbs: { ...verbs, [verb]: false } })),
    ...(claims.deletesHistory
      ? [['historyRetention', { ...claims, deletesHistory: false }] as const]
      : []),
  ];
  return all.filter(isClaimed);
}

const idsOf = (claims: Claims) => listBoundRequirements(claims).map(([id]) => id);

describe('claims and certifications', () => {
  it.each(everyClaims)(
    'bind each other: each claim of %s needs a certification',
    (_name, claims) => {
      const bound = idsOf(claims);
      for (const [claim, less] of takeBackEach(claims)) {
        const left: readonly string[] = idsOf(less);
        expect(
          bound.filter((id) => !left.includes(id)),
          `what only ${claim} needs`,
        ).not.toEqual([]);
      }
    },
  );

  it('leave no certification that no claim needs', () => {
    expect(idsOf(nothingClaimed)).toEqual([]);
    const bound = everyClaims.flatMap(([, claims]) => idsOf(claims));
    expect(certificationIds.filter((id) => !bound.includes(id))).toEqual([]);
  });

  it('bind typed panes alone to what only a composer can do', () => {
    const typed = ['CertPersonsDraftKept', 'CertMixedTextBlocked', 'CertVirginHome'];
    for (const [name, claims] of everyClaims) {
      const bound = idsOf(claims).filter((id) => typed.includes(id));
      expect(bound, name).toEqual(claims.driver === 'typed_pane' ? typed : []);
    }
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

  it('say in one sentence what they show, and name the cases they cover by their ids', () => {
    for (const { behaviour } of Object.values(requirements)) {
      expect(behaviour).toMatch(/^[A-Z].*\.$/);
    }
    for (const covered of certificationIds.flatMap(casesOf)) expect(covered).toMatch(/^B\d+$/);
  });

  it('take a verb that came later as unclaimed for an older version', () => {
    const [definition] = definitions;
    if (!definition) throw new Error('unreachable: there are providers');
    const later = {
      ...definition,
      capabilities: {
        ...definition.capabilities,
        verbs: { ...noVerbs, steer: { since: '2.10.0' } },
      },
    };
    expect(claimsOf(later, 'tmux', '2.9.1')?.capabilities.verbs.steer).toBe(false);
    expect(claimsOf(later, 'tmux', '2.10.0')?.capabilities.verbs.steer).toBe(true);
  });
});
