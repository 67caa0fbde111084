import { defineConfig } from 'tsup';

/** Every file directly in `src` becomes a program in `dist`; packages stay imports, so that what ships is what runs. */
export default defineConfig({
  entry: ['src/*.ts'],
  format: 'esm',
  target: 'node20',
  platform: 'node',
  sourcemap: true,
  clean: true,
  dts: false,
  skipNodeModulesBundle: true,
  external: [/^@holdfast\//],
});
