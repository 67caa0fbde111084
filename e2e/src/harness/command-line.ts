import { parseArgs } from 'node:util';

const help = `Options, where the program knows them:
  --json                   one JSON object a line
  --provider ID            this provider alone
  --cli-version VERSION    this version alone
  --jobs N                 how many sessions at once (2)
  --retry 1                certify, cases, pages: what failed is run once more at the end, alone; it is told as flaky when it
                           passes then, and nothing is run again when more than three failed
  --way WAY,WAY            certify, faults: tmux, structured, per_turn or api alone
  --node 20,22,24|all      certify: which Node drives (npm run certify; our own)
  --depth core|smoke       certify: less of an older version, or only that sessions start and go on; cases: the newest
                           in a terminal alone (core)
  --layer LAYER            certify: provider-core or agent alone
  --through-agent seed     certify: through agent only the five certifications of every layer
  --only ID,ID             certify: these certifications alone
  --planted                certify: the faults that the proofs must catch
  --builder                certify: the post-step workflow under a whole builder alone
  --write                  certify: write the table in docs/certification.md
  --from FILE              certify: run nothing, write the table from rows that runs with --json printed
  --runs N                 fuzz: how many texts are made for each way (20), from --seed
  --kills N --seed S       faults: how many kills (40), drawn from which seed (7)
  --workflows              faults: of a service that runs workflows, at every durable write and at random moments
  --cell CELL              faults: one kill again and again, such as machine:at_request:20
  --live [--yes]           tmux-loss, threads: your own CLI and a private copy of your login
  --self-test              tmux-loss, threads: --live on a made-up home`;

/** The options that the programs of this folder share; each program documents which it takes. */
export function readCommandLine() {
  if (process.argv.includes('--help')) {
    console.log(help);
    process.exit(0);
  }
  try {
    return parseOptions();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${help}\n`);
    return process.exit(2);
  }
}

function parseOptions() {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      provider: { type: 'string' },
      'cli-version': { type: 'string' },
      all: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      planted: { type: 'boolean', default: false },
      builder: { type: 'boolean', default: false },
      layer: { type: 'string' },
      way: { type: 'string' },
      from: { type: 'string' },
      depth: { type: 'string' },
      'through-agent': { type: 'string', default: 'all' },
      only: { type: 'string' },
      jobs: { type: 'string', default: '2' },
      retry: { type: 'string', default: '0' },
      live: { type: 'boolean', default: false },
      yes: { type: 'boolean', default: false },
      'self-test': { type: 'boolean', default: false },
      kills: { type: 'string', default: '40' },
      seed: { type: 'string', default: '7' },
      runs: { type: 'string', default: '20' },
      cell: { type: 'string' },
      workflows: { type: 'boolean', default: false },
    },
    strict: true,
  });
  if (!['0', '1'].includes(values.retry)) throw new Error('--retry is 0 or 1.');
  return values;
}

/** Ends the program as every suite ends: a count that can be read, and the exit status that fits it. */
export function endWithCount({
  passed,
  failed,
  flaky,
}: {
  readonly passed: number;
  readonly failed: number;
  /** Of those that passed, how many did so only at a second try; absent where there is none. */
  readonly flaky?: number | undefined;
}) {
  if (flaky !== undefined) console.log(`flaky: ${flaky}`);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
}
