import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CliUnderTest } from '../harness/cli-under-test.js';
import { createPlace, type Place } from '../harness/place.js';
import { getProviderFixture } from '../harness/providers/index.js';
import { findChanges, listHome } from './home-listing.js';
import { runLive } from './run-live.js';

/** One thing that must hold of a live run. */
export interface SelfTestResult {
  readonly name: string;
  readonly passed: boolean;
}

/** Runs `--live` on a made-up home, with the scripted model in place of the vendor's. */
export async function selfTest(cli: CliUnderTest): Promise<readonly SelfTestResult[]> {
  const place = await createPlace();
  try {
    const person = { home: place.home, cliHome: undefined };
    const fixture = getProviderFixture(cli.provider);
    for (const [path, content] of fixture.madeUpHome(place)) await write(place, path, content);
    const { watched } = fixture.findLogin(person);
    const before = await listHome(watched);

    let notice = '';
    const refused = await runLive({
      cli,
      person,
      isScripted: true,
      confirm: async (text) => {
        notice = text;
        return false;
      },
    });
    const live = await runLive({ cli, person, isScripted: true, confirm: async () => true });
    const unchanged = findChanges(before, await listHome(watched)).length === 0;

    const [first] = fixture.madeUpHome(place);
    await write(place, first?.[0] ?? 'other', 'changed');
    const seen = findChanges(before, await listHome(watched));
    return [
      {
        name: 'says what it copies and sends before it does',
        passed: /copy of your login/.test(notice),
      },
      { name: 'sends nothing without a yes', passed: refused.report === undefined },
      { name: 'recalls the codeword on a copy of the login', passed: live.isGood },
      { name: 'asked the model twice', passed: live.requests === 2 },
      {
        name: 'leaves the original home as it was',
        passed: unchanged && live.changed.length === 0,
      },
      { name: 'would see a changed file', passed: seen.length === 1 },
    ];
  } finally {
    await place.remove();
  }
}

async function write({ home }: Place, path: string, content: string): Promise<void> {
  await mkdir(join(home, path, '..'), { recursive: true });
  await writeFile(join(home, path), content, { mode: 0o600 });
}
