import { Writable } from 'node:stream';
import { systemClock } from '@holdfast/agent';
import { describe, expect, it } from 'vitest';
import { flushOutput } from './flush-output.js';

/** A pipe whose reader takes what was written when it is told to. */
function slowPipe() {
  const taken: string[] = [];
  let take = () => {};
  const pipe = new Writable({
    decodeStrings: false,
    write: (text, _encoding, done) => {
      take = () => {
        taken.push(text);
        done();
      };
    },
  });
  return { pipe, taken, take: () => take() };
}

describe('the end of a worker', () => {
  it('waits until its reader has taken all that it told', async () => {
    const { pipe, taken, take } = slowPipe();
    pipe.write('an outcome');
    let isOver = false;
    const flushed = flushOutput(pipe, systemClock).then(() => {
      isOver = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isOver).toBe(false);
    take();
    await new Promise((resolve) => setImmediate(resolve));
    take();
    await flushed;
    expect(taken.join('')).toBe('an outcome');
  });

  it('does not wait for a reader that is gone, nor for one that takes nothing', async () => {
    const { pipe } = slowPipe();
    pipe.on('error', () => {});
    pipe.destroy();
    await flushOutput(pipe, systemClock);
    const frozen = slowPipe().pipe;
    frozen.write('an outcome');
    await flushOutput(frozen, { ...systemClock, sleep: async () => {} });
    expect(frozen.writableLength).toBeGreaterThan(0);
  });
});
