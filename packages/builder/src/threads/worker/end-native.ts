import type { Agent } from '@holdfast/agent';

/** Ends every process of a job's CLI; tells whether they are proven to be gone. What is left is its worker's to end. */
export async function endNative(agent: Agent): Promise<boolean> {
  try {
    await agent.close();
    return true;
  } catch {
    return false;
  }
}
