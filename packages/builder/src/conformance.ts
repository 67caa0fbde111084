export {
  type StoreCase,
  type StoreSubject,
  storeCases,
  type TestRunner,
  testStore,
} from './persistence/test-store.js';
