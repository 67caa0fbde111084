import { buildWorkspace } from './build.mjs';
import { installDependencies } from './install.mjs';
import { requirePrerequisites } from './prerequisites.mjs';

const report = (line) => process.stderr.write(`${line}\n`);

/** Prints what this machine has for holdfast: a table, or one JSON object with `--json`. Changes nothing. */
async function runDoctor(args) {
  requirePrerequisites();
  await installDependencies({ onProgress: report });
  await buildWorkspace({ onProgress: report });
  const { diagnose } = await import('../packages/provider-core/dist/index.js');
  const stateDir = readFlag(args, '--state-dir');
  const found = await diagnose(stateDir === undefined ? {} : { stateDir });
  const lines = args.includes('--json') ? [JSON.stringify(found)] : describe(found);
  process.stdout.write(`${lines.join('\n')}\n`);
}

function readFlag(args, flag) {
  const index = args.indexOf(flag);
  return index < 0 ? undefined : args[index + 1];
}

function describe({ node, stateDir, tmux, providers, sessions, leftovers }) {
  return [
    `node        ${node}`,
    `tmux        ${describeTool(tmux)}`,
    `state       ${stateDir.path}${stateDir.exists ? '' : ' (not there yet)'}`,
    ...providers.flatMap(describeProvider),
    '',
    `sessions    ${sessions.length}`,
    ...sessions.map(describeSession),
    `leftovers   ${leftovers.length === 0 ? 'none' : ''}`,
    ...leftovers.map(({ pid, of }) => `  pid ${pid}  ${of.replace('_', ' ')}`),
  ];
}

function describeTool({ usable, version, path, problem }) {
  return usable ? `${version}${path ? `  ${path}` : ''}` : `not usable: ${problem}`;
}

function describeProvider({ provider, home, homeExists, certifiedVersion, ways, ...tool }) {
  const newer = tool.isBeyondCertified ? ', the installed one is newer' : '';
  return [
    '',
    `${provider.padEnd(12)}${describeTool(tool)}`,
    `  home        ${home}${homeExists ? '' : ' (not there yet)'}`,
    `  certified   up to ${certifiedVersion}${newer}`,
    ...Object.entries(ways).map(([way, verbs]) => `  ${way.padEnd(12)}${verbs.join(', ')}`),
  ];
}

function describeSession({ provider, nativeSessionId, status, lease, leasePid, processes }) {
  const holder = leasePid === undefined ? '' : ` by pid ${leasePid}`;
  return `  ${provider}  ${nativeSessionId}  ${status}  lease ${lease}${holder}  ${processes} processes`;
}

await runDoctor(process.argv.slice(2));
