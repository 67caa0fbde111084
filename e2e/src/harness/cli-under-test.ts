import { readFile } from 'node:fs/promises';

/** One real CLI that the pin list names. */
export interface CliUnderTest {
  readonly provider: string;
  readonly version: string;
  /** Absolute path of its executable. */
  readonly binary: string;
}

/** The CLIs that `HOLDFAST_CLIS` lists, or those of one provider. None is an error. */
export async function readClisUnderTest({
  provider,
  cliVersion,
}: {
  readonly provider?: string | undefined;
  readonly cliVersion?: string | undefined;
} = {}): Promise<readonly CliUnderTest[]> {
  const file = process.env['HOLDFAST_CLIS'];
  if (!file) {
    throw new Error('HOLDFAST_CLIS names no list of CLIs; run this through `npm run`.');
  }
  const clis: readonly CliUnderTest[] = JSON.parse(await readFile(file, 'utf8'));
  const wanted = clis.filter(
    (cli) =>
      (provider === undefined || cli.provider === provider) &&
      (cliVersion === undefined || cli.version === cliVersion),
  );
  if (wanted.length === 0) throw new Error(`${file} lists no CLI that was asked for.`);
  return wanted;
}
