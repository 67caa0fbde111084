import { mkdir, readdir, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openTestPlace } from './__fixtures__/repository.js';
import { rebuildWorkspace } from './rebuild-workspace.js';
import { stageBundle } from './stage-bundle.js';

async function openSubject() {
  const place = await openTestPlace();
  const folder = join(place.folder, 'inputs');
  const made = await place.createBundle([{ path: 'a', content: 'a\n' }]);
  const source = fileURLToPath(made.bundle.artifactUri);
  return {
    ...made,
    place,
    folder,
    source,
    stage: (changed: Partial<typeof made.bundle>, allowedPrefix = made.allowedPrefix) =>
      stageBundle({ bundle: { ...made.bundle, ...changed }, allowedPrefix, folder }),
    staged: async () => readdir(folder).catch(() => []),
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

describe('stageBundle', () => {
  it('copies a bundle for its owner alone', async () => {
    await using subject = await openSubject();
    const { bundle, folder, source } = subject;
    const staged = await subject.stage({});
    expect(staged).toEqual({
      path: join(folder, `${bundle.digest.slice(7)}.bundle`),
      digest: bundle.digest,
      size: bundle.size,
    });
    expect(await readFile(staged.path)).toEqual(await readFile(source));
    expect((await stat(staged.path)).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect(await subject.stage({})).toEqual(staged);
    expect(await subject.staged()).toHaveLength(1);
  });

  it('refuses each URI that is not a plain one below the prefix, and stages nothing', async () => {
    await using subject = await openSubject();
    const { bundle, allowedPrefix } = subject;
    const name = bundle.artifactUri.slice(allowedPrefix.length);
    const uris = [
      `${allowedPrefix}../${name}`,
      `${allowedPrefix}x/../${name}`,
      `${allowedPrefix}%2e%2e/${name}`,
      `${allowedPrefix}x%2f..%2f${name}`,
      `${allowedPrefix}${name}?x`,
      `${allowedPrefix}${name}#x`,
      `${allowedPrefix}${name}%00`,
      `${allowedPrefix}./${name}`,
      bundle.artifactUri.replace('file:///', 'file://localhost/'),
      bundle.artifactUri.replace('file:///', 'file://host/'),
      bundle.artifactUri.replace('file:', 'https:'),
      fileURLToPath(bundle.artifactUri),
      allowedPrefix,
      'file:///etc/passwd',
      '',
    ];
    for (const artifactUri of uris) {
      const refused = subject.stage({ artifactUri });
      await expect(refused, artifactUri).rejects.toMatchObject({ kind: 'workspace_refused' });
    }
    expect(await subject.staged()).toEqual([]);
  });

  it('follows no link, neither as the bundle nor on the way to it', async () => {
    await using subject = await openSubject();
    const { source, place } = subject;
    const elsewhere = join(place.folder, 'elsewhere');
    await mkdir(elsewhere);
    await rename(source, join(elsewhere, 'r.bundle'));
    const allowed = join(place.folder, 'allowed');
    await mkdir(allowed);
    await symlink(join(elsewhere, 'r.bundle'), join(allowed, 'r.bundle'));
    await symlink(elsewhere, join(allowed, 'd'));
    for (const path of ['r.bundle', 'd/r.bundle', 'absent']) {
      const artifactUri = pathToFileURL(join(allowed, path)).href;
      const refused = subject.stage({ artifactUri }, pathToFileURL(`${allowed}/`).href);
      await expect(refused, path).rejects.toMatchObject({ kind: 'workspace_refused' });
    }
    expect(await subject.staged()).toEqual([]);
  });

  it('refuses what is not of the declared size, digest or kind, and leaves nothing of it', async () => {
    await using subject = await openSubject();
    const { bundle, source, place } = subject;
    const declared = [
      { size: bundle.size + 1 },
      { size: 0 },
      { size: 2 ** 40 },
      { digest: `sha256:${'0'.repeat(64)}` },
      { digest: 'sha256:../../x' },
      { mediaType: 'application/zip' },
      { artifactUri: pathToFileURL(join(place.folder, 'source.git')).href },
    ];
    for (const wrong of declared) {
      const refused = subject.stage(wrong as Partial<typeof bundle>);
      await expect(refused).rejects.toMatchObject({ kind: 'workspace_refused' });
    }
    const bytes = await readFile(source);
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    await writeFile(source, bytes);
    await expect(subject.stage({})).rejects.toMatchObject({ kind: 'workspace_refused' });
    expect(await subject.staged()).toEqual([]);
  });
});

describe('rebuildWorkspace', () => {
  it('refuses a base that is no commit of the bundle, and a bundle that is none', async () => {
    await using subject = await openSubject();
    const { place, baseRevision } = subject;
    const bundle = await subject.stage({});
    const bounds = { maximumPatchBytes: 1000, maximumChangedFiles: 10 };
    const root = join(place.folder, 'thread');
    const tree = await place.treeOf([{ path: 'a', content: 'a\n' }]);
    for (const wrong of [tree, '1'.repeat(40), '1'.repeat(64), 'HEAD', '--upload-pack=x']) {
      const request = { root, bundle, bounds, baseRevision: wrong };
      const refused = rebuildWorkspace(place.git, request);
      await expect(refused, wrong).rejects.toMatchObject({ kind: 'workspace_refused' });
    }
    await writeFile(bundle.path, 'no bundle');
    const request = { root, bundle, bounds, baseRevision };
    await expect(rebuildWorkspace(place.git, request)).rejects.toMatchObject({
      kind: 'workspace_refused',
    });
  });

  it('refuses a root that is a link', async () => {
    await using subject = await openSubject();
    const { place, baseRevision } = subject;
    const bundle = await subject.stage({});
    const elsewhere = join(place.folder, 'elsewhere');
    await mkdir(elsewhere);
    const root = join(place.folder, 'link');
    await symlink(elsewhere, root);
    const bounds = { maximumPatchBytes: 1000, maximumChangedFiles: 10 };
    const refused = rebuildWorkspace(place.git, { root, bundle, bounds, baseRevision });
    await expect(refused).rejects.toMatchObject({ kind: 'workspace_refused' });
    expect(await readdir(elsewhere)).toEqual([]);
  });
});
