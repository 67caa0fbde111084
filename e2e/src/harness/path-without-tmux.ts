import { mkdir, readdir, symlink } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';

/** Makes a folder with a link to everything on our PATH but tmux: a machine on which it is not installed. */
export async function createPathWithoutTmux(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const linked = new Set<string>();
  for (const part of (process.env['PATH'] ?? '').split(delimiter).filter(isAbsolute)) {
    const names = await readdir(part).catch(() => []);
    const wanted = names.filter((name) => !name.startsWith('tmux') && !linked.has(name));
    await Promise.all(wanted.map((name) => symlink(join(part, name), join(folder, name))));
    for (const name of wanted) linked.add(name);
  }
  return folder;
}
