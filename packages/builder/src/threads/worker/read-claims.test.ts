import { describe, expect, it } from 'vitest';
import { review } from '../contract/__fixtures__/coding-jobs.js';
import { readClaims } from './read-claims.wire.js';
import { readJsonObject } from './read-json-object.js';

const [finding] = review().findings;
const findings = finding ? ['f1', 'f2'].map((findingId) => ({ ...finding, findingId })) : [];
const remediation = { priorReview: review({ findings }) };

describe('what an implementer says it has resolved', () => {
  it.each([
    ['on its last line', 'Done.\n{"resolvedFindingIds":["f2"]}', ['f2']],
    ['in a fence', '```json\n{\n  "resolvedFindingIds": ["f2", "f1"]\n}\n```', ['f1', 'f2']],
    ['twice', '{"resolvedFindingIds":["f1"]} no: {"resolvedFindingIds":["f2"]}', ['f2']],
    ['with one that nobody found', '{"resolvedFindingIds":["f9","f1"]}', ['f1']],
    ['in prose', 'I resolved f1 and f2.', []],
    ['in no list', '{"resolvedFindingIds":"f1"}', []],
    ['in broken JSON', '{"resolvedFindingIds":["f1",}', []],
  ])('%s counts as %j says', (_where, answer, claimed) => {
    expect(readClaims(answer, remediation)).toEqual(claimed);
  });

  it('is nothing where nothing was to be mended', () => {
    expect(readClaims('{"resolvedFindingIds":["f1"]}', undefined)).toEqual([]);
  });
});

describe('the one JSON object of an answer', () => {
  it.each([
    ['alone', ' {"a":1}\n', { a: 1 }],
    ['in a fence', '```json\n{"a":1}\n```', { a: 1 }],
    ['behind prose', 'Here: {"a":1}', undefined],
  ])('stands %s', (_where, answer, expected) => {
    expect(readJsonObject(answer)).toEqual(expected);
  });
});
