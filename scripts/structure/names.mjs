import { basename } from 'node:path';

const homeless = ['utils', 'helpers', 'common', 'misc', 'manager', 'service', 'base', 'impl'];

/** File names that say nothing, or say it in another spelling than kebab-case. */
export function findBadFileNames(sources) {
  return sources
    .filter(({ isSource, path }) => isSource && path.includes('/'))
    .flatMap(({ path }) => {
      const name = basename(path).replace(/(\.wire)?(\.test(-d)?)?(\.config)?\.(ts|mjs)$/, '');
      const bad = name
        .split(/[-.]/)
        .filter((part) => homeless.includes(part) || homeless.includes(`${part}s`));
      if (bad.length > 0)
        return [`file-name: ${path} is named "${bad[0]}", which means it has no home yet`];
      if (!/^[a-z0-9]+([-.][a-z0-9]+)*$/.test(name))
        return [`file-name: ${path} is not kebab-case`];
      return [];
    });
}
