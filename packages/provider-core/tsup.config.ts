import { defineConfig } from 'tsup';
import { preset } from '../../tsup.preset.js';

export default defineConfig(
  preset({
    index: 'src/index.ts',
    certification: 'src/certification/index.ts',
    wire: 'src/wire.ts',
  }),
);
