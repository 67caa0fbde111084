import type { Options } from 'tsup';

/** The one build shape of every package: ESM for Node 20, with type declarations. */
export function preset(entry: Record<string, string>): Options {
  return {
    entry,
    format: 'esm',
    target: 'node20',
    platform: 'node',
    sourcemap: true,
    clean: true,
    // tsup sets `baseUrl`, which TypeScript 6 rejects unless told to ignore deprecations.
    dts: { compilerOptions: { ignoreDeprecations: '6.0' } },
  };
}
