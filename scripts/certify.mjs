import { runE2e } from './run-e2e.mjs';

const OWN = process.versions.node.split('.')[0];
const ALL = [...new Set([OWN, '22', '24'])];

// A run that is narrowed down, or that plants faults, is somebody at work: our own Node is enough for it.
const { nodes, rest } = takeNodes(process.argv.slice(2));
await runE2e('certify', rest, { nodes });

function takeNodes(args) {
  const at = args.indexOf('--node');
  if (at === -1) {
    const isNarrow = ['--only', '--planted', '--builder', '--write', '--provider', '--help'].some(
      (option) => args.includes(option),
    );
    return { nodes: isNarrow ? [OWN] : ALL, rest: args };
  }
  const named = args[at + 1] ?? '';
  const rest = [...args.slice(0, at), ...args.slice(at + 2)];
  return { nodes: named === 'all' ? ALL : named.split(','), rest };
}
