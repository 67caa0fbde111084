import { readFile } from 'node:fs/promises';

/** The objects in a JSON-lines file; a line that is none is left out, as the CLIs leave it out. */
export async function readJsonLines<Line>(path: string): Promise<readonly Line[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
}
