import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run-command.mjs';
import { findUndocumentedExports } from './structure/docstrings.mjs';
import { findUndocumentedNames } from './structure/documented-names.mjs';
import {
  findBuilderOverreach,
  findProviderIds,
  findWorkflowWordsBelow,
} from './structure/layers.mjs';
import { findBadFileNames } from './structure/names.mjs';
import { readSources } from './structure/read-sources.mjs';
import { findStrays } from './structure/single-homes.mjs';
import { findOversized } from './structure/sizes.mjs';
import { findTraces } from './structure/traces.mjs';

// A key is a path, `path#function` or `path#rule`; its value is a sentence that says why.
const exceptions = JSON.parse(
  readFileSync(join(root, 'scripts/structure-exceptions.json'), 'utf8'),
);
const sources = readSources();
const complaints = [
  ...findOversized(sources, exceptions),
  ...findBadFileNames(sources),
  ...findProviderIds(sources, exceptions),
  ...findBuilderOverreach(sources),
  ...findWorkflowWordsBelow(sources),
  ...findStrays(sources, exceptions),
  ...findUndocumentedNames(sources),
  ...findUndocumentedExports(sources),
  ...findTraces(sources),
  ...findBadExceptions(),
];
for (const complaint of complaints) console.error(complaint);
console.log(`${sources.length} files, ${complaints.length} complaints`);
process.exitCode = complaints.length > 0 ? 1 : 0;

function findBadExceptions() {
  return Object.entries(exceptions).flatMap(([key, reason]) => {
    if (!existsSync(join(root, key.split('#')[0]))) return [`exception: ${key} no longer exists`];
    return reason.trim().split(' ').length < 5 ? [`exception: ${key} needs a sentence why`] : [];
  });
}
