import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findUnshownCases } from './cases-table.mjs';
import { findUnshownThreadCases } from './coding-threads-table.mjs';
import { readExamples, readPages } from './markdown.mjs';
import { findUnprovenRequirements } from './requirements-table.mjs';
import { root, runCommand } from './run-command.mjs';

// Inside e2e, since all three packages resolve from there.
const workFolder = join(root, 'e2e', '.cache', `docs-${process.pid}`);

const pages = readPages();
const examples = pages.flatMap(readExamples);
const complaints = [
  ...(await typeCheck()),
  ...findBrokenLinks(),
  ...findUnprovenRequirements(pages),
  ...findUnshownCases(pages),
  ...findUnshownThreadCases(pages),
];
for (const complaint of complaints) console.error(complaint);
console.log(`${pages.length} pages, ${examples.length} examples, ${complaints.length} complaints`);
process.exitCode = complaints.length > 0 ? 1 : 0;

async function typeCheck() {
  if (examples.length === 0) return ['examples: no page has a ts block; the check is blind'];
  mkdirSync(workFolder, { recursive: true });
  try {
    const names = examples.map(({ name }) => `${name}.ts`);
    for (const { name, code } of examples) writeFileSync(join(workFolder, `${name}.ts`), code);
    const options = { extends: '../../../tsconfig.json', files: names, include: [] };
    writeFileSync(join(workFolder, 'tsconfig.json'), JSON.stringify(options));
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const command = [process.execPath, tsc, '-p', workFolder, '--pretty', 'false'];
    const { status, output } = await runCommand(command);
    return status === 0 ? [] : output.trim().split('\n').map(nameThePage);
  } finally {
    rmSync(workFolder, { recursive: true, force: true });
  }
}

function nameThePage(line) {
  const example = examples.find(({ name }) => line.includes(`${name}.ts(`));
  return example
    ? line.replace(
        new RegExp(`^.*${example.name}\\.ts\\((\\d+),(\\d+)\\)`),
        `${example.path}:$1:$2`,
      )
    : line;
}

function findBrokenLinks() {
  return pages.flatMap(({ path, text }) =>
    [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)]
      .filter(([, target]) => !existsSync(join(root, dirname(path), target)))
      .map(([, target]) => `link: ${path} links to ${target}, which does not exist`),
  );
}
