import { spawn } from 'node:child_process';
import { findProcessesByEnvironment, systemClock } from '@holdfast/agent';
import { expect, it, onTestFinished } from 'vitest';
import { endWorkerProcesses, MARKER_VARIABLE, markOf } from './worker-marker.js';

const MOST = 60;

it('ends at its limit too where what it ends comes up anew all the time', async () => {
  const mark = markOf('a nonce of this test');
  let now = 0;
  let started = 0;
  const startAnother = () => {
    if (started === MOST) return;
    started += 1;
    const env = { [MARKER_VARIABLE]: mark };
    const child = spawn('/bin/sleep', ['60'], { env, stdio: 'ignore' });
    onTestFinished(() => void child.kill('SIGKILL'));
  };
  const clock = {
    ...systemClock,
    monotonicMs: () => {
      startAnother();
      now += 3_000;
      return now;
    },
  };
  const left = await endWorkerProcesses({ mark }, { graceMs: 0, clock });
  expect(left.length).toBeGreaterThan(0);
  expect(started).toBeLessThan(MOST);
  expect(await endWorkerProcesses({ mark }, { graceMs: 0, clock: systemClock })).toEqual([]);
  expect(findProcessesByEnvironment(MARKER_VARIABLE, mark)).toEqual([]);
}, 60_000);
