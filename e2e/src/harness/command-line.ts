import { parseArgs } from 'node:util';

/** The options that the programs of this folder share; each program documents which it takes. */
export function readCommandLine() {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      provider: { type: 'string' },
      'cli-version': { type: 'string' },
      all: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      planted: { type: 'boolean', default: false },
      layer: { type: 'string' },
      'through-agent': { type: 'string', default: 'all' },
      only: { type: 'string' },
      jobs: { type: 'string', default: '2' },
      live: { type: 'boolean', default: false },
      yes: { type: 'boolean', default: false },
      'self-test': { type: 'boolean', default: false },
      kills: { type: 'string', default: '24' },
      seed: { type: 'string', default: '7' },
      cell: { type: 'string' },
    },
    strict: true,
  });
  return values;
}

/** Ends the program as every suite ends: a count that can be read, and the exit status that fits it. */
export function endWithCount({
  passed,
  failed,
}: {
  readonly passed: number;
  readonly failed: number;
}) {
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
}
