import { defineConfig } from 'tsup';
import { preset } from '../../tsup.preset.js';

export default defineConfig(preset({ index: 'src/index.ts', conformance: 'src/conformance.ts' }));
