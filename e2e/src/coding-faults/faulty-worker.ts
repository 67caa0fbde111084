import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Writes a worker that is the installed one, and kills itself as it comes to a step. */
export async function writeFaultyWorker(folder: string, step: string): Promise<string> {
  const path = join(folder, 'coding-worker.mjs');
  const faults = new URL('./install-worker-faults.js', import.meta.url).href;
  const worker = new URL('./coding-worker.js', import.meta.resolve('@holdfast/builder')).href;
  const lines = [
    `process.env.HOLDFAST_FAULT_STEP = ${JSON.stringify(`coding/${step}:1`)};`,
    `await import(${JSON.stringify(faults)});`,
    `await import(${JSON.stringify(worker)});`,
  ];
  await writeFile(path, `${lines.join('\n')}\n`);
  return path;
}
