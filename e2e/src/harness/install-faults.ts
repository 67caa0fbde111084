import { appendFileSync } from 'node:fs';
import { setFaultHook } from '@holdfast/provider-core/certification';

/**
 * Makes this process kill or stop itself at a step of the turn machine: `HOLDFAST_FAULT_STEP=<step>:<nth>` is SIGKILL
 * at the nth time that the step is taken, `HOLDFAST_FREEZE_STEP` the same with SIGSTOP. Into the file that
 * `HOLDFAST_FAULT_RECORD` names goes each step that is taken, one a line.
 */
export function installFaults(): void {
  const faults = [
    readFault('HOLDFAST_FAULT_STEP', 'SIGKILL'),
    readFault('HOLDFAST_FREEZE_STEP', 'SIGSTOP'),
  ].filter((fault) => fault !== undefined);
  const record = process.env['HOLDFAST_FAULT_RECORD'];
  if (faults.length === 0 && record === undefined) return;
  const taken = new Map<string, number>();
  setFaultHook((step) => {
    const count = (taken.get(step) ?? 0) + 1;
    taken.set(step, count);
    if (record !== undefined) appendFileSync(record, `${step}\n`);
    for (const fault of faults) {
      if (fault.step === step && fault.nth === count) process.kill(process.pid, fault.signal);
    }
  });
}

function readFault(variable: string, signal: 'SIGKILL' | 'SIGSTOP') {
  // A step's own name may hold colons.
  const [, step, nth] = /^(.+):(\d+)$/.exec(process.env[variable] ?? '') ?? [];
  return step ? { step, nth: Number(nth), signal } : undefined;
}
