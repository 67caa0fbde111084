import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeContinuationState } from './continuation-state.wire.js';
import { PHASES } from './phases.js';
import { glanceAtState } from './state-glance.wire.js';

const key = { iteration: 'iteration-1', group: 'main', step: 'draft' };
const golden = readFileSync(
  new URL('../__fixtures__/v2/states/all-phases.json', import.meta.url),
  'utf8',
);

/** Every place in a value, as a path. */
function placesOf(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [
    path,
    ...Object.keys(value).flatMap((name) => placesOf((value as never)[name], [...path, name])),
  ];
}

function replace(value: unknown, [first, ...rest]: readonly string[], by: unknown): unknown {
  if (first === undefined) return by;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<
    string,
    unknown
  >;
  copy[first] = replace(copy[first], rest, by);
  return copy;
}

const places = placesOf(JSON.parse(golden));

/** What the codec says of the same fields. */
function decodedGlance(value: unknown) {
  const { state } = decodeContinuationState(value, key);
  if (!state) return undefined;
  const { executionId, createdAt, agent, workflowId, ownerKind, stepId, outcome } = state;
  const phases = PHASES.flatMap((phase) => {
    const record = state.phases[phase];
    if (!record) return [];
    const { status, updatedAt, notBefore, suspended } = record;
    return [[phase, { status, updatedAt, notBefore, suspended }] as const];
  });
  return {
    ...{ executionId, createdAt, agent, workflowId, ownerKind, stepId, outcome },
    phases: Object.fromEntries(phases),
  };
}

describe('glanceAtState', () => {
  it('tells of a state as this version writes it what the codec tells', () => {
    const value: unknown = JSON.parse(golden);
    expect(glanceAtState(value, key)).toEqual(decodedGlance(value));
    expect(glanceAtState(value, key)).toBeDefined();
  });

  it('says nothing of a state of an older or newer schema', () => {
    for (const version of [1, 3, '2', undefined]) {
      expect(glanceAtState(replace(JSON.parse(golden), ['schema_version'], version), key)).toBe(
        undefined,
      );
    }
  });

  it('never says of any changed state what the codec does not say: damage is left to the codec', () => {
    const odd = fc.oneof(
      fc.constantFrom(
        undefined,
        null,
        '',
        ' ',
        0,
        -1,
        1.5,
        Number.POSITIVE_INFINITY,
        true,
        [],
        {},
        [null],
        [{}],
        'open',
        'chat',
      ),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(fc.constantFrom(...places), odd, (path, by) => {
        const changed = replace(JSON.parse(golden), path, by);
        const glance = glanceAtState(changed, key);
        if (glance) expect(glance).toEqual(decodedGlance(changed));
      }),
      { numRuns: 1_000 },
    );
  });
});
