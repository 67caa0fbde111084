import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Place } from '../harness/place.js';
import { claudeCode } from '../harness/providers/claude-code.js';
import type { ProviderFixture } from '../harness/providers/provider-fixture.js';

type PrepareCliHome = ProviderFixture['prepareCliHome'];
type Json = Readonly<Record<string, unknown>>;

/** A home whose owner was through the first start and has trusted no folder. */
export const untrustedHome: PrepareCliHome = async (cliHome) => {
  await mkdir(cliHome, { recursive: true, mode: 0o700 });
  await writeState(cliHome, { hasCompletedOnboarding: true });
};

/** The usual home with these files besides: name below the home to content. */
export function homeWith(
  files: (place: Place) => Readonly<Record<string, string>>,
): PrepareCliHome {
  return async (cliHome, place) => {
    await claudeCode.prepareCliHome(cliHome, place);
    for (const [name, content] of Object.entries(files(place))) {
      await writeFile(join(cliHome, name), content);
    }
  };
}

/** Lays fields over the CLI's own state, as one that it was sent by its vendor. */
export async function addToState(cliHome: string, fields: Json): Promise<void> {
  const state: Json = JSON.parse(await readFile(join(cliHome, '.claude.json'), 'utf8'));
  await writeState(cliHome, { ...state, ...fields });
}

async function writeState(cliHome: string, state: Json): Promise<void> {
  await writeFile(join(cliHome, '.claude.json'), JSON.stringify(state), { mode: 0o600 });
}
