import { spawn } from 'node:child_process';
import { expect, it } from 'vitest';
import { ConnectionLostError, ControlConnection } from './control-connection.js';

/** A client whose attach ends as told after its first input was answered, as tmux 3.3a does it where the session is gone. */
function createClient(attachEnds: string): ControlConnection {
  const program = `
    process.stdin.once('data', (input) => {
      const sentinel = /-p (holdfast-\\S+)/.exec(input)[1];
      process.stdout.write('%begin 9 1 1\\n42 3.3a\\n%end 9 1 1\\n');
      process.stdout.write('%begin 9 2 1\\n' + sentinel + '\\n%end 9 2 1\\n');
      ${attachEnds}
    });`;
  const child = spawn(process.execPath, ['-e', program], { stdio: 'pipe' });
  return new ControlConnection({ child, onNotification: () => {} });
}

it('is open once the client is attached', async () => {
  const connection = createClient(`process.stdout.write('%begin 9 3 0\\n%end 9 3 0\\n')`);
  expect(await connection.open('display-message')).toEqual({ lines: ['42 3.3a'] });
  expect(connection.isOpen).toBe(true);
  await connection.close();
});

it('is not open though its input was answered, where the attach is refused', async () => {
  const refusal = "can't find session: holdfast-keeper";
  const connection = createClient(
    `process.stdout.write(${JSON.stringify(`%begin 9 3 0\n${refusal}\n%error 9 3 0\n%exit\n`)})`,
  );
  await expect(connection.open('display-message')).rejects.toMatchObject({ detail: refusal });
  await connection.close();
});

it('is lost where the client ends without a word about the attach', async () => {
  const connection = createClient('process.exit(1)');
  await expect(connection.open('display-message')).rejects.toBeInstanceOf(ConnectionLostError);
  expect(connection.isOpen).toBe(false);
});

it('is given up where nothing is heard of the attach in time', async () => {
  const connection = createClient('');
  await expect(connection.open('display-message', { deadlineMs: 500 })).rejects.toMatchObject({
    code: 'unresponsive',
  });
  expect(connection.isOpen).toBe(false);
});
