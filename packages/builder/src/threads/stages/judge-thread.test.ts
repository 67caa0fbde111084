import { expect, it } from 'vitest';
import { judgeThread } from './judge-thread.js';

const first = { operationId: 'op-1', mode: 'new' } as const;

it('tries a first operation again where nothing is kept of its thread', () => {
  expect(judgeThread(undefined, { ...first, isSameScope: true })).toBe('again');
});

it('never tries a first operation again in another scope, where its thread cannot be seen', () => {
  expect(judgeThread(undefined, { ...first, isSameScope: false })).toBe('replace');
});
