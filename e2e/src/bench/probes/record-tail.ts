import { closeSync, existsSync, fstatSync, openSync, readSync, statSync, watch } from 'node:fs';
import { dirname } from 'node:path';

/** Tells each new line of a JSON-lines file with its moment: by watching the file, or by looking every `pollMs`. */
export function tailRecord(
  path: string,
  onLine: (line: string, at: number) => void,
  { pollMs }: { readonly pollMs?: number } = {},
): () => void {
  let position = existsSync(path) ? statSync(path).size : 0;
  let half = '';
  let file: number | undefined;
  const read = () => {
    if (!existsSync(path)) return;
    file ??= openSync(path, 'r');
    const { size } = fstatSync(file);
    if (size <= position) return;
    const bytes = Buffer.alloc(size - position);
    readSync(file, bytes, 0, bytes.length, position);
    position = size;
    const at = performance.now();
    const lines = (half + bytes.toString('latin1')).split('\n');
    half = lines.pop() ?? '';
    for (const line of lines) onLine(line, at);
  };
  const timer = pollMs === undefined ? undefined : setInterval(read, pollMs);
  const watcher =
    pollMs === undefined ? watch(existsSync(path) ? path : dirname(path), read) : undefined;
  return () => {
    clearInterval(timer);
    watcher?.close();
    if (file !== undefined) closeSync(file);
  };
}
