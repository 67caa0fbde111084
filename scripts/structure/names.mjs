import { basename } from 'node:path';

const homeless = ['utils', 'helpers', 'common', 'misc', 'manager', 'service', 'base', 'impl'];

/** File names that say nothing, or say it in another spelling than kebab-case. */
export function findBadFileNames(sources) {
  return sources
    .filter(({ isSource, path }) => isSource && path.includes('/'))
    .flatMap(({ path }) => {
      const name = basename(path).replace(/(\.wire)?(\.test(-d)?)?(\.config)?\.(ts|mjs)$/, '');
      // A whole name or its noun; `process-outlives-service` is a sentence and fine.
      const parts = name.split('-');
      const noun = parts.length <= 2 ? parts.at(-1) : '';
      if (homeless.some((word) => noun === word || `${noun}s` === word || noun === `${word}s`)) {
        return [`file-name: ${path} is named "${noun}", which means it has no home yet`];
      }
      if (!/^[a-z0-9]+([-.][a-z0-9]+)*$/.test(name))
        return [`file-name: ${path} is not kebab-case`];
      return [];
    });
}
