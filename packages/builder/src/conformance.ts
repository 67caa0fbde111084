export {
  holdJobs,
  type JobEngineCase,
  type JobEngineSubject,
  type JobHolder,
  jobEngineCases,
  testJobEngine,
} from './engine/test-job-engine.js';
export {
  type StoreCase,
  type StoreSubject,
  storeCases,
  type TestRunner,
  testStore,
} from './persistence/test-store.js';
