import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The fewest calls that know what stands in these files. */
export function readEach(paths: readonly string[]): number {
  return paths.filter((path) => JSON.parse(readFileSync(path, 'utf8'))).length;
}

/** The fewest calls that find every open state of a data directory. */
export function walkPlainly(dataDir: string): number {
  const runs = join(dataDir, 'runs');
  let open = 0;
  for (const iteration of readdirSync(runs)) {
    for (const group of readdirSync(join(runs, iteration))) {
      const logs = join(runs, iteration, group, 'logs');
      for (const step of readdirSync(logs)) {
        const text = readFileSync(join(logs, step, 'continuation_state.json'), 'utf8');
        if (JSON.parse(text).outcome === 'open') open += 1;
      }
    }
  }
  return open;
}
