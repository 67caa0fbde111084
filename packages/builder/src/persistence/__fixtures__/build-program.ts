import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

/** The optional peers: no program here needs one. */
const OPTIONAL = [
  'ai',
  '@ai-sdk/openai',
  '@ai-sdk/anthropic',
  '@ai-sdk/google',
  '@ai-sdk/openai-compatible',
];

const sources = fileURLToPath(new URL('../../', import.meta.url));
const agent = fileURLToPath(new URL('../../../../agent/src/index.ts', import.meta.url));

/** Builds a program of Node 20, which runs no TypeScript, from a text that imports `#src/…` and `#agent`; gives its file. */
export async function buildProgram(folder: string, name: string, text: string): Promise<string> {
  const entry = join(folder, `${name}.ts`);
  await writeFile(entry, text.replaceAll('#src/', sources).replaceAll('#agent', agent));
  await build({
    configFile: false,
    logLevel: 'silent',
    root: sources,
    ssr: {
      noExternal: true,
      external: OPTIONAL,
      resolve: { conditions: ['@holdfast/source', 'node', 'module', 'default'] },
    },
    build: {
      ssr: entry,
      outDir: join(folder, name),
      target: 'node20',
      rollupOptions: { output: { entryFileNames: `${name}.mjs` } },
    },
  });
  return join(folder, name, `${name}.mjs`);
}
