// A CLI that lives for one turn. Arguments: what it does, its record, the session it was asked for.
import { appendFileSync, readFileSync } from 'node:fs';

const [, , mode, record, session] = process.argv;
const write = (line) => appendFileSync(record, `${JSON.stringify(line)}\n`);
const text = readFileSync(0, 'utf8');

if (mode === 'gives up') {
  process.stderr.write('no luck\n');
  process.exit(1);
}
if (mode === 'is killed early') {
  process.stderr.write('Notice: the moon is full.\n');
  process.kill(process.pid, 'SIGKILL');
}
if (mode === 'ends oddly') {
  process.stderr.write('The moon is in the wrong house.\n');
  process.exit(7);
}
process.stdout.write(`${JSON.stringify({ opened: mode === 'other' ? 'another' : session })}\n`);
if (mode === 'stubborn') process.on('SIGINT', () => {});
write({ settings: { permissions: mode === 'looser' ? 'full' : 'read_only' } });
write({ event: { type: 'message_accepted', text, origin: 'user' } });
if (mode === 'answers') {
  write({ event: { type: 'turn_ended', answer: `Heard: ${text}`, backgroundWork: 0 } });
} else {
  setInterval(() => {}, 60_000);
}
