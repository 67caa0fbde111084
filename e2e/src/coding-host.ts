import { createInterface } from 'node:readline';
import { type BuilderOptions, createBuilder } from '@holdfast/builder';
import type { CodingCommand, CodingLine, CodingServiceOptions } from './threads/coding-command.js';

/** A service with a builder that has coding runners: it runs the jobs it is told, one after another, until its input ends. */
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const { value } = await lines.next();
const { dataDir, coding }: CodingServiceOptions = JSON.parse(value);
// The options are JSON that the harness wrote; which CLIs they name is decided at run time.
const builder = await createBuilder({ dataDir, agents: {}, coding } as unknown as BuilderOptions);
tell({ type: 'ready' });
for await (const line of { [Symbol.asyncIterator]: () => lines }) await run(JSON.parse(line));
await builder.close();

async function run({ jobId, input, owner }: CodingCommand): Promise<void> {
  try {
    const job = await builder.threads.submit({ jobId, input, owner });
    const outcome = await job.result();
    await job.acknowledge();
    tell({ type: 'ended', jobId, outcome: JSON.parse(JSON.stringify(outcome)) });
  } catch (error) {
    tell({ type: 'failed', jobId, error: describe(error) });
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return `${error.stack ?? error.message} ${JSON.stringify(error)}`;
}

function tell(line: CodingLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
