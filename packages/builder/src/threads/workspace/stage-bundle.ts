import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RepositoryBundle, Sha256 } from '../coding-job.js';
import { ensurePrivateFolder } from './private-folder.js';
import { workspaceRefused } from './workspace-refused.js';

/** Where a bundle may come from, and where its copy goes. */
export interface StageBundleRequest {
  readonly bundle: RepositoryBundle;
  /** A `file:` URI that ends with `/`. */
  readonly allowedPrefix: string;
  /** The private folder of the copy; it is made when it is not there. */
  readonly folder: string;
  /** 128 MiB when absent. */
  readonly maximumBundleBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A copy of a bundle that is ours alone, and is what was declared. */
export interface StagedBundle {
  readonly path: string;
  readonly digest: Sha256;
  readonly size: number;
}

const DEFAULT_MAXIMUM_BUNDLE_BYTES = 128 * 1024 * 1024;

/** Follows no link, and does not wait for the other end of a pipe that stands there. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Copies a bundle to where nobody else writes and proves it by its digest; where anything differs, no copy stays. */
export async function stageBundle(request: StageBundleRequest): Promise<StagedBundle> {
  const { bundle, folder, maximumBundleBytes = DEFAULT_MAXIMUM_BUNDLE_BYTES } = request;
  const source = await findSource(bundle.artifactUri, request.allowedPrefix);
  checkDeclaration(bundle, maximumBundleBytes);
  await ensurePrivateFolder(folder);
  const copy = join(folder, `${randomUUID()}.part`);
  try {
    await copyExactly(source, { bundle, copy, signal: request.signal });
    const path = join(folder, `${bundle.digest.slice('sha256:'.length)}.bundle`);
    await rename(copy, path);
    return { path, digest: bundle.digest, size: bundle.size };
  } finally {
    await rm(copy, { force: true });
  }
}

/** No folder below the prefix may be a link either: it would lead out of what is allowed. */
async function findSource(uri: string, allowedPrefix: string): Promise<string> {
  if (!allowedPrefix.endsWith('/')) throw new TypeError(`${allowedPrefix} does not end with "/".`);
  const allowed = readFilePath(allowedPrefix);
  const path = readFilePath(uri);
  if (!uri.startsWith(allowedPrefix) || uri.endsWith('/')) throw uriRefused(uri);
  const folder = dirname(path);
  try {
    const expected = join(await realpath(allowed), relative(allowed, folder));
    if ((await realpath(folder)) === expected) return join(expected, basename(path));
  } catch (error) {
    throw workspaceRefused(`${uri} is not there.`, { artifactUri: uri }, { cause: error });
  }
  throw uriRefused(uri);
}

/** A URI that is not in its normal form hides where it leads: a `..`, an encoded slash, a second host. */
function readFilePath(uri: string): string {
  const url = URL.canParse(uri) ? new URL(uri) : undefined;
  const isPlain = url?.protocol === 'file:' && url.href === uri && url.host === '';
  if (!url || !isPlain || /[?#\\]|%00|%2f|%5c/i.test(uri)) throw uriRefused(uri);
  return fileURLToPath(url);
}

function uriRefused(uri: string): Error {
  return workspaceRefused(`${uri} is no file below the allowed prefix.`, { artifactUri: uri });
}

function checkDeclaration(bundle: RepositoryBundle, maximumBundleBytes: number): void {
  const { digest, size, mediaType } = bundle;
  const isSize = Number.isSafeInteger(size) && size > 0 && size <= maximumBundleBytes;
  if (isSize && /^sha256:[0-9a-f]{64}$/.test(digest) && mediaType === 'application/x-git-bundle') {
    return;
  }
  throw workspaceRefused('The bundle is declared as none that is taken.', {
    digest,
    size,
    mediaType,
    maximumBundleBytes,
  });
}

interface CopyRequest {
  readonly bundle: RepositoryBundle;
  readonly copy: string;
  readonly signal: AbortSignal | undefined;
}

async function copyExactly(source: string, { bundle, copy, signal }: CopyRequest): Promise<void> {
  const input = await openSource(source, bundle);
  try {
    const found = await input.stat();
    if (!found.isFile() || found.size !== bundle.size) {
      throw bundleDiffers(bundle, { isFile: found.isFile(), size: found.size });
    }
    const output = await open(copy, 'wx', 0o600);
    try {
      await copyBytes(input, { output, bundle, signal });
    } finally {
      await output.close();
    }
  } finally {
    await input.close();
  }
}

async function openSource(source: string, bundle: RepositoryBundle): Promise<FileHandle> {
  try {
    return await open(source, FLAGS);
  } catch (error) {
    const evidence = { artifactUri: bundle.artifactUri };
    throw workspaceRefused('The bundle cannot be opened as a plain file.', evidence, {
      cause: error,
    });
  }
}

interface ByteCopy {
  readonly output: FileHandle;
  readonly bundle: RepositoryBundle;
  readonly signal: AbortSignal | undefined;
}

/** Stops right after the declared size, so that a file which grows meanwhile does not fill our disk. */
async function copyBytes(input: FileHandle, { output, bundle, signal }: ByteCopy): Promise<void> {
  const hash = createHash('sha256');
  const chunk = Buffer.alloc(1024 * 1024);
  let size = 0;
  while (size <= bundle.size) {
    signal?.throwIfAborted();
    const { bytesRead } = await input.read(chunk, 0, chunk.length, null);
    if (bytesRead === 0) break;
    size += bytesRead;
    hash.update(chunk.subarray(0, bytesRead));
    await output.writeFile(chunk.subarray(0, bytesRead));
  }
  const digest = `sha256:${hash.digest('hex')}`;
  if (size !== bundle.size || digest !== bundle.digest)
    throw bundleDiffers(bundle, { size, digest });
}

function bundleDiffers(bundle: RepositoryBundle, found: Record<string, string | number | boolean>) {
  const { artifactUri, digest, size } = bundle;
  return workspaceRefused('The bundle is not what was declared.', {
    artifactUri,
    declared: { digest, size },
    found,
  });
}
