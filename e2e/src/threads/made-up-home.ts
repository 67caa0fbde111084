import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { CliUnderTest } from '../harness/cli-under-test.js';
import { createPlace } from '../harness/place.js';
import { getProviderFixture } from '../harness/providers/index.js';
import type { StageCheck } from './check.js';
import { runLiveThread } from './live-thread.js';

/** Runs `--live` on a made-up home, with the scripted model in place of the vendor's. */
export async function runOnMadeUpHome(cli: CliUnderTest): Promise<readonly StageCheck[]> {
  const place = await createPlace();
  try {
    for (const [path, content] of getProviderFixture(cli.provider).madeUpHome(place)) {
      await mkdir(dirname(join(place.home, path)), { recursive: true });
      await writeFile(join(place.home, path), content, { mode: 0o600 });
    }
    const person = { home: place.home, cliHome: undefined };
    return await runLiveThread({ cli, person, confirm: async () => true, isScripted: true });
  } finally {
    await place.remove();
  }
}
