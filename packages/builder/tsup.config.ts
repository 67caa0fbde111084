import { defineConfig } from 'tsup';
import { preset } from '../../tsup.preset.js';

export default defineConfig(
  preset({
    index: 'src/index.ts',
    conformance: 'src/conformance.ts',
    // The program of a worker process: started by its file, imported by nobody.
    'coding-worker': 'src/coding-worker.ts',
  }),
);
