import type { Agent } from '@holdfast/agent';

/** Ends every process of a job's CLI; tells whether they are proven to be gone. What is left is its worker's to end. */
export async function endNative(
  agent: Agent,
  { archive = false }: { readonly archive?: boolean } = {},
): Promise<boolean> {
  try {
    await agent.close({ archive });
    return true;
  } catch {
    // Ending it is what counts: an archive that fails must not leave it running.
    return archive && (await endNative(agent));
  }
}
