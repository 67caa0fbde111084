import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Package imports resolve to `src` through this private export condition, so that tests need no build. */
const source = ['@holdfast/source'];

const unit = (name: string, root = `packages/${name}`) => ({
  resolve: { conditions: source },
  ssr: { resolve: { conditions: source, externalConditions: source } },
  test: {
    name,
    root,
    include: ['src/**/*.test.ts'],
    // Tests wait on conditions with deadlines of their own; this only ends one that hangs.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    typecheck: {
      enabled: true,
      include: ['src/**/*.test-d.ts'],
      tsconfig: fileURLToPath(new URL('tsconfig.json', import.meta.url)),
      // Errors outside the type tests are the typecheck suite's to report, once.
      ignoreSourceErrors: true,
    },
  },
});

export default defineConfig({
  test: {
    projects: [unit('provider-core'), unit('agent'), unit('builder'), unit('e2e', 'e2e')],
    coverage: { provider: 'v8', include: ['packages/*/src/**'] },
  },
});
