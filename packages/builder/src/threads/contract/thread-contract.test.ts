import { describe, expect, it } from 'vitest';
import {
  artifact,
  CHECKPOINT,
  DIGEST,
  implementJob,
  PATCH,
  review,
} from './__fixtures__/coding-jobs.js';
import { digestOfText } from './canonical-json.js';
import { extractReceipt } from './extract-receipt.js';
import { listUnclosed, noteClaims, noteReview } from './finding-ledger.js';
import { checkPublication } from './publish-gate.js';
import { readPatchPaths } from './read-patch-paths.js';
import { bindJob, findDifferingFields } from './thread-binding.js';
import { digestScope } from './thread-scope.js';

const receipt = {
  sessionRef: '019a0000-0000-7000-8000-000000000001',
  checkpoint: CHECKPOINT,
  state: 'READY',
} as const;

const parts = {
  host: 'host',
  origin: 'service',
  policy: DIGEST,
  boundary: DIGEST,
  owner: { kind: 'workflow', processId: receipt.sessionRef },
} as const;

describe('the scope of a thread', () => {
  it('survives job sessions but never crosses authority', () => {
    const other = digestOfText('other');
    const sessionId = receipt.sessionRef;
    const scopes = [
      parts,
      { ...parts, host: 'elsewhere' },
      { ...parts, origin: 'another' },
      { ...parts, policy: other },
      { ...parts, boundary: other },
      { ...parts, owner: { kind: 'workflow', processId: CHECKPOINT } } as const,
      { ...parts, owner: { kind: 'session', sessionId, principal: 'a' } } as const,
      { ...parts, owner: { kind: 'session', sessionId, principal: 'b' } } as const,
    ].map(digestScope);
    expect(new Set(scopes).size).toBe(scopes.length);
    expect(digestScope({ ...parts })).toBe(scopes[0]);
  });

  it('is not made of an owner without a UUID, or of an empty part', () => {
    for (const processId of ['', 'process', '00000000-0000-0000-0000-000000000000']) {
      const owner = { kind: 'workflow', processId } as const;
      expect(() => digestScope({ ...parts, owner })).toThrow(TypeError);
    }
    expect(() => digestScope({ ...parts, host: '' })).toThrow(TypeError);
  });
});

describe('the binding of a thread', () => {
  const trusted = {
    scope: DIGEST,
    authenticationProfile: 'personal-subscription',
    adapterContractDigest: DIGEST,
    manifestDigest: DIGEST,
    policy: { permissions: { mode: 'managed' }, models: ['a'] },
  };

  it('names each field that differs by its path', () => {
    const one = bindJob(implementJob(), trusted);
    expect(findDifferingFields(one, JSON.parse(JSON.stringify(one)))).toEqual([]);
    const policy = { permissions: { mode: 'inherit' }, models: ['a'] };
    const job = implementJob({
      baseRevision: 'c'.repeat(40),
      writableRoots: ['/workspace/repo/x'],
    });
    expect(findDifferingFields(one, bindJob(job, { ...trusted, policy }))).toEqual([
      'baseRevision',
      'policy.permissions.mode',
      'writableRoots',
    ]);
    const { policy: _none, ...bare } = trusted;
    expect(findDifferingFields(one, bindJob(implementJob(), bare))).toEqual(['policy']);
  });

  it('leaves prompt, bounds and remediation free', () => {
    const job = implementJob({ maximumPatchBytes: 1, remediation: { priorReview: review() } });
    const one = bindJob(implementJob(), trusted);
    expect(bindJob({ ...job, text: 'another' }, trusted)).toEqual(one);
  });
});

describe('extractReceipt', () => {
  it.each([
    ['our envelope', { outcome: 'closed', operationId: 'o', thread: receipt, evidence: {} }],
    ['an implementation result', { worker: { codingThread: receipt }, codingPatch: {} }],
    ['a review result', { codingThread: receipt, codingReview: {} }],
    [
      'a durable result',
      { executionId: 'e', result: { structuredOutput: { codingThread: receipt } } },
    ],
    [
      'JSON text',
      JSON.stringify({
        result: { structuredOutput: JSON.stringify({ worker: { codingThread: receipt } }) },
      }),
    ],
  ])('reads %s', (_what, value) => {
    expect(extractReceipt(value)).toEqual(receipt);
  });

  it('keeps why a close did not happen', () => {
    const open = { ...receipt, closeError: 'thread/archive did not answer within 10s' };
    expect(extractReceipt({ thread: open })).toEqual(open);
  });

  it.each([
    [
      'a scheduling answer',
      { type: 'executionAccepted', profile: 'coding', request_id: CHECKPOINT },
    ],
    ['a scheduling id as checkpoint', { request_id: CHECKPOINT, codingThread: receipt }],
    [
      'an execution id as checkpoint',
      { executionId: CHECKPOINT, result: { structuredOutput: { codingThread: receipt } } },
    ],
    ['a checkpoint that is no UUID', { codingThread: { ...receipt, checkpoint: 'request-1' } }],
    ['a state of our own', { codingThread: { ...receipt, state: 'IN_FLIGHT' } }],
    [
      'a closed thread with a close error',
      { codingThread: { ...receipt, state: 'CLOSED', closeError: 'x' } },
    ],
    ['an unknown key', { codingThread: { ...receipt, threadId: 'native' } }],
    [
      'two receipts that differ',
      { codingThread: receipt, worker: { codingThread: { ...receipt, state: 'CLOSED' } } },
    ],
    ['text that is no JSON', CHECKPOINT],
    ['nothing', undefined],
  ])('finds none in %s', (_what, value) => {
    expect(extractReceipt(value)).toBeUndefined();
  });
});

describe('the finding ledger', () => {
  it('is closed by a reviewer alone, and opened again by one', () => {
    const opened = noteReview([], review());
    const claimed = noteClaims(opened, artifact({ resolvedFindingIds: ['f1'] }));
    expect(claimed.map(({ state }) => state)).toEqual(['claimed']);
    expect(listUnclosed(claimed)).toHaveLength(1);
    const approved = review({
      verdict: 'approved',
      findings: [],
      artifactDigest: digestOfText('2'),
    });
    const closed = noteReview(claimed, approved);
    expect(closed).toMatchObject([{ state: 'closed', judgedIn: digestOfText('2') }]);
    expect(listUnclosed(closed)).toEqual([]);
    expect(listUnclosed(noteReview(closed, review()))).toHaveLength(1);
    expect(opened.map(({ state }) => state)).toEqual(['open']);
  });

  it('knows no claim about a finding that nobody made', () => {
    expect(() => noteClaims([], { resolvedFindingIds: ['f9'] })).toThrow(/f9/);
  });
});

describe('the publish gate', () => {
  const patchDigest = digestOfText(PATCH);
  const approved = review({ verdict: 'approved', findings: [], artifactDigest: patchDigest });

  it('lets the approved patch through, and no other', () => {
    const ledger = noteReview([], review());
    expect(() => checkPublication({ patch: PATCH, patchDigest, review: approved })).not.toThrow();
    for (const [change, field] of [
      [{ patch: `${PATCH}\n` }, 'patchDigest'],
      [{ review: { ...approved, artifactDigest: DIGEST } }, 'review.artifactDigest'],
      [{ review: { ...approved, verdict: 'changes-required' } }, 'review.verdict'],
      [{ ledger }, 'ledger'],
    ] as const) {
      const publish = () =>
        checkPublication({ patch: PATCH, patchDigest, review: approved, ...change });
      expect(publish).toThrow(
        expect.objectContaining({ kind: 'publish_blocked', details: { differingFields: [field] } }),
      );
    }
  });
});

describe('readPatchPaths', () => {
  it('reads modes, renames, deletions, binaries and quoted names, and no line of a hunk', () => {
    const patch = [
      'diff --git a/mode.sh b/mode.sh',
      'old mode 100644',
      'new mode 100755',
      'diff --git a/old name.txt b/new name.txt',
      'similarity index 100%',
      'rename from old name.txt',
      'rename to new name.txt',
      'diff --git a/gone.txt b/gone.txt',
      'deleted file mode 100644',
      '--- a/gone.txt',
      '+++ /dev/null',
      '@@ -1,2 +0,0 @@',
      '--- a/in-the-hunk',
      '-rename to elsewhere',
      'diff --git a/pic.bin b/pic.bin',
      'new file mode 100644',
      'GIT binary patch',
      'literal 3',
      'diff --git "a/\\303\\244\\"\\t.txt" "b/\\303\\244\\"\\t.txt"',
      '--- "a/\\303\\244\\"\\t.txt"',
      '+++ "b/\\303\\244\\"\\t.txt"',
      'diff --git a/with space b/with space',
      '--- /dev/null',
      '+++ b/with space\t',
      'diff --git "a/q\\"" "b/q\\""',
      'new mode 100755',
    ].join('\n');
    expect(readPatchPaths(patch)).toEqual({
      changed: ['gone.txt', 'mode.sh', 'new name.txt', 'pic.bin', 'q"', 'with space', 'ä"\t.txt'],
      renamedFrom: ['old name.txt'],
    });
  });
});
