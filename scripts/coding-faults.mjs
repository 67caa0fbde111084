import { runE2e } from './run-e2e.mjs';

await runE2e('coding-faults');
