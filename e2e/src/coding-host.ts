import { createInterface } from 'node:readline';
import { type BuilderOptions, createBuilder } from '@holdfast/builder';
import type { CodingCommand, CodingLine, CodingServiceOptions } from './threads/coding-command.js';

/** A service with a builder that has coding runners: it does what it is told until its input ends. */
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const { value } = await lines.next();
const { dataDir, coding }: CodingServiceOptions = JSON.parse(value);
// The options are JSON that the harness wrote; which CLIs they name is decided at run time.
const builder = await createBuilder({ dataDir, agents: {}, coding } as unknown as BuilderOptions);
tell({ type: 'ready' });
const running: Promise<void>[] = [];
for await (const line of { [Symbol.asyncIterator]: () => lines }) {
  running.push(answer(JSON.parse(line)));
}
await Promise.all(running);
await builder.close();

async function answer(command: CodingCommand): Promise<void> {
  const { id } = command;
  try {
    tell({ type: 'done', id, value: (await act(command)) ?? null });
  } catch (error) {
    const kind = error instanceof Error && 'kind' in error ? String(error.kind) : 'defect';
    tell({ type: 'failed', id, kind, error: describe(error) });
  }
}

async function act(command: CodingCommand): Promise<unknown> {
  const { threads } = builder;
  switch (command.call) {
    case 'run': {
      const { jobId, input, owner } = command;
      const job = await threads.submit({ jobId, input, owner });
      const outcome = await job.result();
      await job.acknowledge();
      return outcome;
    }
    case 'find':
      return await (await threads.find(command.jobId))?.result();
    case 'inspect':
      return await threads.inspect(command);
    case 'adopt':
    case 'abandon':
    case 'rollback':
      return await threads[command.call](command);
    case 'stage': {
      // The stage is JSON that the harness wrote.
      const stage = command.stage as unknown as Parameters<typeof threads.runStage>[0]['stage'];
      return await threads.runStage({ key: command.key, stage, owner: command.owner });
    }
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return `${error.stack ?? error.message} ${JSON.stringify(error)}`;
}

function tell(line: CodingLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
