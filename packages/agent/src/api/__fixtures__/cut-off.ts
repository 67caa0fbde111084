import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A state directory as a killed process leaves it at this moment: the same transcript, and a lease without an owner. */
export async function cutOff(stateDir: string, sessionId: string): Promise<string> {
  const transcript = await readFile(join(stateDir, 'api', sessionId, 'transcript.jsonl'));
  return placeTranscript(stateDir, sessionId, transcript);
}

export async function placeTranscript(
  stateDir: string,
  sessionId: string,
  transcript: string | Uint8Array,
): Promise<string> {
  const copy = await mkdtemp(join(stateDir, 'copy-'));
  const folder = join(copy, 'api', sessionId);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'transcript.jsonl'), transcript);
  return copy;
}
