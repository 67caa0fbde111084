import { parseArgs } from 'node:util';

/** What the bench is asked for. */
export interface BenchOptions {
  readonly json: boolean;
  readonly rounds: number;
  readonly isQuick: boolean;
  readonly provider?: string | undefined;
  readonly cliVersion?: string | undefined;
  readonly wants: (row: string) => boolean;
}

const help = `Options:
  --json               one object {rows, machine} instead of a table
  --rounds N           rounds of a warm row (31, or 5 with --quick); a cold row takes a third
  --only ROW[,ROW…]    these rows alone: 5, 6b, 8a, journal; docs/bench.md lists them
  --quick              few rounds, the shortest history, few sessions
  --provider ID        one provider
  --cli-version V      one version`;

/** `--json`, `--rounds N` (31, or 5 with `--quick`), `--only 5,6b`, `--quick`, `--provider`, `--cli-version`. */
export function readBenchOptions(): BenchOptions {
  if (process.argv.includes('--help')) {
    console.log(help);
    process.exit(0);
  }
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      only: { type: 'string' },
      provider: { type: 'string' },
      'cli-version': { type: 'string' },
    },
  });
  const rounds = Number(values.rounds ?? (values.quick ? 5 : 31));
  if (!Number.isInteger(rounds) || rounds < 1) throw new TypeError('--rounds takes a whole number');
  const only = values.only?.split(',');
  return {
    json: values.json,
    rounds,
    isQuick: values.quick,
    provider: values.provider,
    cliVersion: values['cli-version'],
    // `5` asks for 5a too, and a suite that has 5a is run for it.
    wants: (row) => !only || only.some((asked) => isPartOf(row, asked) || isPartOf(asked, row)),
  };
}

/** `10a` is a part of `10` and none of `1`. */
function isPartOf(part: string, whole: string): boolean {
  return part.startsWith(whole) && !/^\d/.test(part.slice(whole.length));
}
