// A CLI that reads and writes JSON lines. Arguments: what it does, its home, its private folder, its session.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const [, , mode, home, folder, session] = process.argv;
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
mkdirSync(join(home, 'sessions'), { recursive: true });
writeFileSync(join(home, 'sessions', `${process.pid}.json`), JSON.stringify({ session }));
if (mode !== 'no hooks') writeFileSync(join(folder, 'sign'), '');
say({ type: 'activity', activity: 'idle' });
for await (const line of createInterface({ input: process.stdin })) {
  if (line !== '') say({ type: 'record', event: { type: 'answer_delta', text: line } });
}
