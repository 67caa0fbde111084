import { describe, expect, it } from 'vitest';
import { StaleHandleError } from '../errors/continuation-error.js';
import type { ProviderDefinition } from '../spec/provider-definition.js';
import type { ServedPane } from '../spec/served-pane.js';
import { certifyProvider } from './certify.js';
import type { CertificationSubject } from './subject.js';

/** A provider that is registered nowhere and claims one thing: a handle belongs to one account. */
const outside: Pick<
  ProviderDefinition,
  'id' | 'capabilities' | 'transports' | 'certifiedVersion' | 'historyRetention'
> = {
  id: 'somebody-elses-cli',
  certifiedVersion: '1.0.0',
  capabilities: {
    tmuxContinuation: false,
    nativeResumeInTmux: false,
    requiresStableWorkingDir: false,
    continuation: 'history',
    process: { outlives: false },
    durableBeforeTools: false,
    finishesInterruptedTurns: false,
    stableFields: ['account'],
    settings: {
      model: 'reported',
      permissions: 'reported',
      systemPrompt: 'reported',
      mcpServers: 'reported',
    },
    verbs: {
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
    },
    normalises: [],
  },
  // No case reads the declaration itself.
  transports: { tmux: { kind: 'served_pane' } as ServedPane },
};

/** A driver that remembers in which home it started; a `careless` one takes a handle into any other. */
function createSubject(isCareless: boolean) {
  const started = { answer: 'ok', handle: {}, turnId: '', recovered: false, events: [] };
  const subject: Partial<CertificationSubject> = {
    start: async () => ({ ...started, stopReason: 'end_turn', requests: [] }),
    createVirginCliHome: async () => '/another-home',
    modelRequests: () => [],
    continue: async () => {
      if (!isCareless) throw new StaleHandleError(outside.id, 'account');
      return { ...started, stopReason: 'end_turn', requests: [] };
    },
  };
  return { ...(subject as CertificationSubject), [Symbol.asyncDispose]: async () => {} };
}

async function certifyOutside(isCareless: boolean) {
  const tests: (readonly [string, () => Promise<void>])[] = [];
  const ways: string[] = [];
  certifyProvider(outside, {
    test: (title, body) => tests.push([title, body]),
    createSubject: async (way) => {
      ways.push(way);
      return createSubject(isCareless);
    },
  });
  const outcomes = await Promise.allSettled(tests.map(([, body]) => body()));
  return {
    titles: tests.map(([title]) => title),
    statuses: outcomes.map(({ status }) => status),
    ways,
  };
}

describe('certifyProvider', () => {
  it('certifies a definition that lives outside this repository', async () => {
    expect(await certifyOutside(false)).toEqual({
      titles: ['somebody-elses-cli tmux: CertStableAccount'],
      statuses: ['fulfilled'],
      ways: ['tmux'],
    });
  });

  it('fails a provider that does not do what it claims', async () => {
    expect((await certifyOutside(true)).statuses).toEqual(['rejected']);
  });
});
