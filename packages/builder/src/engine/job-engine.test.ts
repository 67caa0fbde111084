import { afterAll, beforeAll, describe, it } from 'vitest';
import { createEngineSubject } from './__fixtures__/engine-subject.js';
import { createHolderProcesses, type HolderProcesses } from './__fixtures__/holder-process.js';
import { testJobEngine } from './test-job-engine.js';

let processes: HolderProcesses;

beforeAll(async () => {
  processes = await createHolderProcesses();
}, 120_000);

afterAll(() => processes[Symbol.asyncDispose]());

testJobEngine({ describe, it }, () => createEngineSubject(processes));
