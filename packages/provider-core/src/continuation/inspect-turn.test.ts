import { describe, expect, it } from 'vitest';
import { inspectCodingAgentTurn, judgeTurn, type ObservedTurn } from './inspect-turn.js';

const gone: ObservedTurn = {
  journal: 'submitting',
  record: 'no_message',
  process: 'gone',
  isOwned: false,
  durableBeforeTools: true,
};

const journals = ['none', 'prepared', 'submitting', 'accepted', 'ended'] as const;
const records = ['no_message', 'message', 'absent', 'untrustworthy'] as const;
const processes = ['alive', 'gone', 'unknown'] as const;
const both = [true, false];

const all: readonly ObservedTurn[] = journals.flatMap((journal) =>
  records.flatMap((record) =>
    processes.flatMap((process) =>
      both.flatMap((isOwned) =>
        both.map((durableBeforeTools) => ({
          journal,
          record,
          process,
          isOwned,
          durableBeforeTools,
        })),
      ),
    ),
  ),
);

describe('judgeTurn', () => {
  it('says none of a message that never left, and of one that no record holds and nothing can bring', () => {
    expect(judgeTurn({ ...gone, journal: 'none', process: 'alive' })).toBe('none');
    expect(judgeTurn({ ...gone, journal: 'prepared', record: 'untrustworthy' })).toBe('none');
    expect(judgeTurn(gone)).toBe('none');
    expect(judgeTurn({ ...gone, record: 'absent' })).toBe('none');
  });

  it('says none of nothing that was taken in, that somebody still drives, or that left without proof', () => {
    for (const seen of all.filter((one) => judgeTurn(one) === 'none')) {
      expect(seen.isOwned).toBe(false);
      expect(seen.record).not.toBe('message');
      expect(['none', 'prepared', 'submitting']).toContain(seen.journal);
      if (seen.journal !== 'submitting') continue;
      expect(seen).toMatchObject({ process: 'gone', durableBeforeTools: true });
      expect(seen.record).not.toBe('untrustworthy');
    }
  });

  it('says taken wherever journal or record hold it', () => {
    for (const seen of all) {
      const isHeld =
        seen.journal === 'accepted' || seen.journal === 'ended' || seen.record === 'message';
      expect(judgeTurn(seen) === 'taken').toBe(isHeld);
    }
  });
});

describe('inspectCodingAgentTurn', () => {
  it('tells nothing of a session that was never written down here', async () => {
    const handle = {
      provider: 'claude-code',
      transport: 'structured',
      native_session_id: '33333333-3333-4333-8333-333333333333',
      working_dir: '/',
    };
    const turnId = '44444444-4444-4444-8444-444444444444';
    const seen = await inspectCodingAgentTurn(handle, turnId, { stateDir: '/nowhere/state' });
    expect(seen).toMatchObject({ turn: 'unknown', journal: 'none' });
  });
});
