import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { CONTINUATION_STATE_SCHEMA, type ContinuationState } from './continuation-state.js';
import { decodeContinuationState, encodeContinuationState } from './continuation-state.wire.js';
import { PHASES } from './phases.js';

const KEY = { iteration: 'iteration-1', group: 'main', step: 'draft' };

const golden = (version: 'v1' | 'v2', name: string): string =>
  readFileSync(new URL(`../__fixtures__/${version}/states/${name}.json`, import.meta.url), 'utf8');

function decode(value: unknown): ContinuationState {
  const { state, unusable } = decodeContinuationState(value, KEY);
  if (!state) throw new TypeError(`not usable: ${unusable}`);
  return state;
}

const readGolden = (name: string): ContinuationState => decode(JSON.parse(golden('v1', name)));
/** What stands on disk after it was written once. */
const rewrite = (state: ContinuationState) =>
  JSON.parse(JSON.stringify(encodeContinuationState(state)));

describe('a state of schema 1', () => {
  it('is read with its place, owner kind and empty turns where schema 1 has nothing', () => {
    const state = readGolden('missing-keys');
    expect(state).toMatchObject({
      schemaVersion: 1,
      executionId: 'iteration-1~main~draft',
      runFolder: 'iteration-1/main',
      stepId: 'draft',
      ownerKind: 'workflow_step',
      createdAt: '2026-07-22T10:00:00+02:00',
      terminals: [],
    });
    expect(state.phases.main_execution).toEqual({
      status: 'completed',
      updatedAt: '2026-07-22T10:00:00+02:00',
      attempt: 0,
      turns: [],
    });
  });

  it.each([
    ['running-main', 'open'],
    ['waiting-for-lock', 'open'],
    ['kb-pending', 'open'],
    ['retired-phases', 'open'],
    ['completed', 'completed'],
    ['failed', 'failed'],
  ])('%s is %s by its phases', (name, outcome) => {
    expect(readGolden(name).outcome).toBe(outcome);
  });

  it('keeps nanoseconds as text, and dates the execution by its earliest time', () => {
    const state = readGolden('waiting-for-lock');
    expect(state.phases.direct_learning?.updatedAt).toBe('2026-07-22T10:11:12.110000001Z');
    expect(state.createdAt).toBe('2026-07-22T10:11:12.1Z');
    expect(rewrite(state).updated_at).toBe('2026-07-22T10:11:12.110000001Z');
  });

  it('gives each phase its handle, and a handle without transport the one its provider had', () => {
    expect(readGolden('waiting-for-lock').phases.direct_learning?.handle).toMatchObject({
      sessionId: 's-1',
      provider: { transport: 'tmux', nativeSessionId: '11111111-1111-4111-8111-111111111111' },
    });
    const partial = readGolden('partial-handles');
    expect(partial.handle?.provider.transport).toBe('tmux');
    expect(partial.phases.main_execution?.handle?.sessionId).toBe('s-1');
  });

  it('takes a handle that finds no session for none, and keeps it', () => {
    const { direct_learning: learning } = readGolden('partial-handles').phases;
    expect(learning?.handle).toBeUndefined();
    const written = rewrite(readGolden('partial-handles'));
    expect(written.phases.direct_learning.agent_session_handle).toEqual({ session_id: 's-1' });
  });

  it('keeps unknown keys and unknown phases, blank and null ones too', () => {
    const written = rewrite(readGolden('partial-handles'));
    expect(written).toMatchObject({ host: 'h-1', blank: '', nothing: null });
    expect(written.phases.evaluation).toEqual({
      status: 'running',
      detail: { any: 'thing' },
      note: '',
    });
  });

  it('keeps unknown keys of a phase', () => {
    const phase = { status: 'running', updated_at: 'x', host: 'h-1', note: '' };
    const written = rewrite(decode({ phases: { main_execution: phase }, updated_at: 'x' }));
    expect(written.phases.main_execution).toMatchObject(phase);
  });

  it.each([
    'running-main',
    'waiting-for-lock',
    'completed',
    'kb-pending',
    'retired-phases',
    'missing-keys',
    'failed',
  ])('%s is written again with every key it had, so that a schema 1 reader parses it', (name) => {
    const before = JSON.parse(golden('v1', name));
    const after = rewrite(readGolden(name));
    expect(after.schema_version).toBe(CONTINUATION_STATE_SCHEMA);
    expect(after).toMatchObject({ ...before, schema_version: CONTINUATION_STATE_SCHEMA });
  });
});

describe('a state of schema 2', () => {
  it('is the same bytes after it was read and written', () => {
    const text = golden('v2', 'all-phases');
    expect(`${JSON.stringify(encodeContinuationState(decode(JSON.parse(text))))}\n`).toBe(text);
  });

  it('holds each phase of this version in the order they run', () => {
    const { phases } = JSON.parse(golden('v2', 'all-phases'));
    expect(Object.keys(phases)).toEqual([...PHASES]);
  });

  it('keeps messages, answers and inputs that are blank or null', () => {
    const turn = {
      turnId: 't',
      message: ' ',
      kind: 'prompt',
      state: 'completed',
      answer: '',
    } as const;
    const phase = { status: 'running', updatedAt: 'x', attempt: 1, turns: [turn] } as const;
    const state: ContinuationState = {
      ...readGolden('running-main'),
      phases: { main_execution: phase },
      answer: '',
      input: null,
    };
    const again = decode(rewrite(state));
    expect(again).toMatchObject({ answer: '', input: null });
    expect(again.phases.main_execution?.turns).toEqual([turn]);
  });

  it('holds at most 2000 characters of an error, the first and last 1000, and cuts none in two', () => {
    const error = `${'é'.repeat(999)}🦊${'a'.repeat(5_000)}🦊${'é'.repeat(999)}`;
    const phase = { status: 'failed', updatedAt: 'x', attempt: 1, turns: [], error } as const;
    const state: ContinuationState = { ...readGolden('failed'), phases: { main_execution: phase } };
    expect(rewrite(state).phases.main_execution.error).toBe(
      `${'é'.repeat(999)}🦊🦊${'é'.repeat(999)}`,
    );
  });
});

describe('what is no state of ours', () => {
  it('is newer where its schema is', () => {
    expect(decodeContinuationState({ schema_version: 3 }, KEY)).toEqual({
      unusable: 'newer_schema',
    });
  });

  it.each([
    ['no object', [1]],
    ['an unknown status', { phases: { main_execution: { status: 'paused', updated_at: 'x' } } }],
    ['a phase that is none', { phases: { main_execution: 'running' } }],
    ['a version that is no number', { schema_version: '1' }],
  ])('is damaged with %s', (_what, value) => {
    expect(decodeContinuationState(value, KEY)).toEqual({ unusable: 'damaged' });
  });
});

/** What a reader of schema 1 takes in, from the table of its fields: it knows these keys and looks at no others. */
const text = z.string().optional();
const handleOfSchema1 = z.object({
  agent_id: text,
  session_id: text,
  owner_id: text,
  scope: text,
  correlation_id: text,
  provider: z
    .object({
      provider: text,
      transport: text,
      native_session_id: text,
      tmux_session: text,
      working_dir: text,
      project_dir_id: text,
      model: text,
      status: text,
    })
    .optional(),
});
const phaseOfSchema1 = z.object({
  status: z.enum([
    'pending',
    'running',
    'waiting_for_lock',
    'recovery_queued',
    'completed',
    'failed',
    'skipped',
  ]),
  error: z.string().max(2_000).optional(),
  agent_session_handle: handleOfSchema1.optional(),
  updated_at: z.iso.datetime({ offset: true }),
});
const schema1 = z.object({
  schema_version: z.number().int(),
  workspace_path: text,
  run_folder: text,
  step_id: text,
  step_path: text,
  owner_kind: text,
  agent_session_handle: handleOfSchema1.optional(),
  phases: z.record(z.string(), phaseOfSchema1),
  updated_at: z.iso.datetime({ offset: true }),
});

describe('a reader of schema 1', () => {
  it('parses everything this version writes', () => {
    const written = JSON.parse(golden('v2', 'all-phases'));
    expect(schema1.parse(written).phases['main_execution']?.agent_session_handle).toEqual(
      schema1.parse(written).agent_session_handle,
    );
    for (const name of ['running-main', 'waiting-for-lock', 'retired-phases', 'missing-keys']) {
      const before = schema1.parse(JSON.parse(golden('v1', name)));
      const after = schema1.parse(rewrite(readGolden(name)));
      expect(after).toMatchObject({ ...before, schema_version: CONTINUATION_STATE_SCHEMA });
    }
  });
});
