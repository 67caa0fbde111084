import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, runCommand } from './run-command.mjs';

const sourceFolders = ['provider-core', 'agent', 'builder'].map((name) => `packages/${name}/src`);
const summary = await cruise();
const complaints = [
  ...summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} imports ${to}`),
  ...complainAboutBlindness(summary),
  ...complainAboutManifests(),
];
for (const complaint of complaints) console.error(complaint);
console.log(
  `${summary.totalCruised} modules, ${summary.totalDependenciesCruised} imports, ${complaints.length} violations`,
);
process.exitCode = complaints.length > 0 ? 1 : 0;

async function cruise() {
  const tool = join(root, 'node_modules', 'dependency-cruiser', 'bin', 'dependency-cruise.mjs');
  const options = ['--config', 'scripts/dependency-rules.mjs', '--output-type', 'json'];
  const { stdout, output } = await runCommand([
    process.execPath,
    tool,
    ...options,
    ...sourceFolders,
  ]);
  try {
    return JSON.parse(stdout).summary;
  } catch {
    throw new Error(`dependency-cruiser gave no report:\n${output}`);
  }
}

/** Without a TypeScript it can use, dependency-cruiser reports "no violations" of the 0 modules that it read. */
function complainAboutBlindness({ totalCruised, totalDependenciesCruised }) {
  const files = sourceFolders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).filter(
      // The rules leave fixtures out.
      (name) => name.endsWith('.ts') && !name.includes('__fixtures__'),
    ),
  );
  if (totalCruised >= files.length && totalDependenciesCruised >= files.length / 2) return [];
  return [
    `blind: read ${totalCruised} modules and ${totalDependenciesCruised} imports, but there are ${files.length} files`,
  ];
}

function complainAboutManifests() {
  const mayDependOn = { 'provider-core': [], agent: ['provider-core'], builder: ['agent'] };
  return Object.entries(mayDependOn).flatMap(([name, allowed]) => {
    const manifest = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'));
    const listed = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies']
      .flatMap((field) => Object.keys(manifest[field] ?? {}))
      .filter((dependency) => dependency.startsWith('@holdfast/'));
    return listed
      .filter((dependency) => !allowed.includes(dependency.replace('@holdfast/', '')))
      .map((dependency) => `manifest: packages/${name} must not list ${dependency}`);
  });
}
