// The same sessions in memory that agent's own tests use; a test may reach across what the sources may not.
export {
  MemorySessions,
  type MemoryWorld,
  type Step,
} from '../../../agent/src/__fixtures__/memory-sessions.js';
