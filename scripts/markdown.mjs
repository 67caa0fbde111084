import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run-command.mjs';

/** README.md and every page under docs/, as `{ path, text }`. */
export function readPages() {
  const folder = join(root, 'docs');
  const docs = (existsSync(folder) ? readdirSync(folder, { recursive: true }) : [])
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`);
  return ['README.md', ...docs.sort()]
    .filter((path) => existsSync(join(root, path)))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

/**
 * The TypeScript blocks of a page, each a module of its own. Empty lines stand before the code, so that a compiler's
 * line numbers are the page's. A block that opens with "ts run" is marked as one to execute.
 */
export function readExamples({ path, text }) {
  const examples = [];
  let current;
  for (const [index, line] of text.split('\n').entries()) {
    const fence = /^\s*```(.*)$/.exec(line);
    if (!fence) {
      current?.lines.push(line);
    } else if (current) {
      if (current.isExample) examples.push(toExample(path, current));
      current = undefined;
    } else {
      const [language, ...marks] = fence[1].trim().split(/\s+/);
      current = {
        isExample: language === 'ts',
        runs: marks.includes('run'),
        startsAt: index + 1,
        lines: [],
      };
    }
  }
  return examples;
}

function toExample(path, { runs, startsAt, lines }) {
  const code = lines.join('\n');
  const isModule = /^\s*(import|export)\b/m.test(code);
  return {
    name: `${path.replace(/\.md$/, '').replaceAll('/', '-').toLowerCase()}-line-${startsAt}`,
    path,
    startsAt,
    runs,
    code: `${'\n'.repeat(startsAt)}${code}\n${isModule ? '' : 'export {};\n'}`,
  };
}
