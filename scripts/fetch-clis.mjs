import { spawn } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const pinFile = fileURLToPath(new URL('../e2e/clis/package.json', import.meta.url));

/**
 * Makes sure that the pinned CLIs are in the cache outside the checkout, and says where each binary is.
 * Needs no network for a CLI that is there already. Two calls at once are safe: the first rename wins.
 */
export async function ensurePinnedClis({ all = false, onProgress = () => {} } = {}) {
  const wanted = readPinnedClis().filter((pin) => all || pin.inDefaultSet);
  await installMissing(wanted, onProgress);

  const clis = wanted.map((pin) => ({
    provider: pin.provider,
    version: pin.version,
    binary: binaryPath(pin),
  }));
  await writeAtomically(clisFile(), `${JSON.stringify(clis, null, 2)}\n`);
  return clis;
}

/** The same for the pinned Nodes of these major versions. A Node that is not pinned is an error that names it. */
export async function ensurePinnedNodes(majors, { onProgress = () => {} } = {}) {
  const pins = readPins('nodes');
  const wanted = majors.map((major) => {
    const pin = pins.find(({ version }) => version.split('.')[0] === major);
    if (!pin) throw new Error(`Node ${major} is not pinned in e2e/clis/package.json.`);
    return pin;
  });
  await installMissing(wanted, onProgress);
  return wanted.map((pin) => ({ version: pin.version, binary: binaryPath(pin) }));
}

async function installMissing(wanted, onProgress) {
  const missing = wanted.filter((pin) => !existsSync(binaryPath(pin)));
  announce(missing, onProgress);
  for (const pin of missing) await installPin(pin, onProgress);
}

/** The JSON file that lists the installed CLIs; `HOLDFAST_CLIS` hands it to an end-to-end program. */
export function clisFile() {
  return join(cacheDir(), 'clis.json');
}

/** Where fetched CLIs live: `HOLDFAST_CACHE`, else the user's cache folder; never the checkout. */
function cacheDir() {
  const { HOLDFAST_CACHE: own, XDG_CACHE_HOME: xdg } = process.env;
  return own || (xdg ? join(xdg, 'holdfast') : join(homedir(), '.cache', 'holdfast'));
}

/** Reads the pin list for this platform; a platform without a pin is an error that names it. */
export function readPinnedClis(platform) {
  return readPins('pinned', platform);
}

function readPins(list, platform = `${process.platform}-${process.arch}`) {
  const { [list]: pins } = JSON.parse(readFileSync(pinFile, 'utf8'));
  return pins.map(({ packages, ...pin }) => {
    const source = packages[platform];
    if (!source) {
      throw new Error(
        `${pin.provider} ${pin.version} is not pinned for ${platform}. Use linux or darwin on x64 or arm64.`,
      );
    }
    return { ...pin, source };
  });
}

function announce(missing, onProgress) {
  if (missing.length === 0) return;
  const total = missing.reduce((sum, { megabytes }) => sum + megabytes, 0);
  const list = missing.map((pin) => `${pin.provider} ${pin.version} (${pin.megabytes} MB)`);
  onProgress(`Fetching ${list.join(', ')}: about ${total} MB unpacked, kept for next time.`);
}

async function installPin(pin, onProgress) {
  const target = pinFolder(pin);
  await mkdir(dirname(target), { recursive: true });
  const work = await mkdtemp(join(dirname(target), '.fetching-'));
  try {
    const started = performance.now();
    await writeManifest(work, pin.source);
    await runNpmInstall(work, pin);
    await chmod(join(work, packagePath(pin.source), pin.source.binary), 0o755);
    await moveIntoPlace(work, target);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    onProgress(`Fetched ${pin.provider} ${pin.version} in ${seconds} s.`);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** A lock entry without an address makes npm ask the registry it is set up for, and still check the integrity. */
async function writeManifest(work, source) {
  const alias = aliasOf(source);
  const wanted = alias === source.name ? source.version : `npm:${source.name}@${source.version}`;
  const root = { name: 'holdfast-cli', version: '1.0.0', dependencies: { [alias]: wanted } };
  const entry = { name: source.name, version: source.version, integrity: source.integrity };
  const lock = {
    name: root.name,
    version: root.version,
    lockfileVersion: 3,
    requires: true,
    packages: { '': root, [`node_modules/${alias}`]: entry },
  };
  await writeFile(join(work, 'package.json'), JSON.stringify({ private: true, ...root }));
  await writeFile(join(work, 'package-lock.json'), JSON.stringify(lock));
}

async function runNpmInstall(work, pin) {
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier'];
  const npm = spawn('npm', args, { cwd: work, stdio: ['ignore', 'pipe', 'pipe'], env: npmEnv() });
  let output = '';
  npm.stdout.on('data', (chunk) => (output += chunk));
  npm.stderr.on('data', (chunk) => (output += chunk));
  const status = await new Promise((resolve, reject) => {
    npm.on('error', reject);
    npm.on('close', resolve);
  });
  if (status === 0) return;
  throw new Error(
    `npm could not fetch ${pin.provider} ${pin.version} (exit ${status}). Check the network and run the command again.\n${output.trim()}`,
  );
}

/** Under `npm run`, npm hands its own settings to children; those of another project must not reach this install. */
function npmEnv() {
  const inherited = Object.entries(process.env).filter(
    ([name]) =>
      !/^npm_(config_(prefix|global|local_prefix|dry_run|omit|include)|package_|lifecycle_)/i.test(
        name,
      ),
  );
  return Object.fromEntries(inherited);
}

/** Another process may have finished first: then its copy stays and ours is dropped. */
async function moveIntoPlace(work, target) {
  try {
    await rename(work, target);
  } catch (error) {
    const taken = ['ENOTEMPTY', 'EEXIST'].includes(error.code);
    if (!taken) throw error;
    const complete = (await readdir(target)).includes('node_modules');
    if (!complete) throw error;
  }
}

function binaryPath(pin) {
  return join(pinFolder(pin), packagePath(pin.source), pin.source.binary);
}

function pinFolder({ provider, version }) {
  return join(cacheDir(), 'clis', `${provider}-${version}-${process.platform}-${process.arch}`);
}

function packagePath(source) {
  return join('node_modules', aliasOf(source));
}

/** Codex publishes its platform builds as versions of one package; an alias keeps them apart. */
function aliasOf({ name, version }) {
  const platform = /-((?:linux|darwin)-(?:x64|arm64))$/.exec(version)?.[1];
  return platform ? `${name}-${platform}` : name;
}

async function writeAtomically(file, text) {
  await mkdir(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, text);
  await rename(draft, file);
}

const isProgram =
  process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url);
if (isProgram) {
  try {
    const clis = await ensurePinnedClis({
      all: process.argv.includes('--all'),
      onProgress: (line) => process.stderr.write(`${line}\n`),
    });
    process.stdout.write(`${JSON.stringify(clis, null, 2)}\n`);
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
