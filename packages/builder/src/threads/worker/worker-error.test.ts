import { CliUnusableError, isTurnError, StaleHandleError } from '@holdfast/agent';
import { describe, expect, it } from 'vitest';
import { CodingThreadError, isCodingThreadError } from '../coding-thread-error.js';
import { describeWorkerError, restoreWorkerError } from './worker-error.js';

const cross = (error: unknown) =>
  restoreWorkerError(JSON.parse(JSON.stringify(describeWorkerError(error))));

describe('an error on its way out of a worker', () => {
  it('of a thread is the same on the other side', () => {
    const details = { sessionRef: 's', differingFields: ['baseRevision'], evidence: { a: [1] } };
    const restored = cross(new CodingThreadError('thread_binding_changed', 'no', details));
    expect(isCodingThreadError(restored)).toBe(true);
    expect(restored).toMatchObject({
      kind: 'thread_binding_changed',
      retry: 'replace',
      message: 'no',
    });
    expect(restored).toMatchObject({ details });
  });

  it.each([
    ['same', new CliUnusableError('cli', 'missing', 'no')],
    ['replace', new StaleHandleError('memory', 'model')],
  ])('of an agent keeps its type, and may be tried again: %s', (retry, error) => {
    expect(describeWorkerError(error)).toMatchObject({ family: 'agent', kind: error.kind, retry });
    const restored = cross(error);
    expect(restored).toMatchObject({ kind: error.kind, message: error.message });
    expect(isTurnError(restored)).toBe(isTurnError(error));
  });

  it('that is a defect, or nobody knows, is an unknown execution', () => {
    expect(describeWorkerError(new RangeError('no'))).toMatchObject({ family: 'defect' });
    expect(cross('thrown')).toMatchObject({ kind: 'execution_unknown', retry: 'inspect' });
    const strange = { ...describeWorkerError(new CodingThreadError('thread_busy', 'no')), json: 7 };
    expect(restoreWorkerError(strange)).toMatchObject({ kind: 'execution_unknown' });
  });

  it('leaves its causes behind: they may hold what a CLI said', () => {
    const cause = new TypeError('secret words');
    const described = describeWorkerError(
      new CodingThreadError('thread_failed', 'no', {}, { cause }),
    );
    expect(JSON.stringify(described)).not.toContain('secret words');
  });
});
