import { createHash } from 'node:crypto';

/** The longest name that every vendor takes. */
const LONGEST_NAME = 64;

/**
 * The name the model knows a server's tool by: `mcp__<server>__<tool>`, as the CLIs spell it. A name with other
 * characters, or a longer one, gets a digest at its end, so that the same tool always has the same name and two never
 * share one. Pure.
 */
export function modelToolName(server: string, tool: string): string {
  const name = `mcp__${server}__${tool}`;
  const spelled = name.replace(/[^a-zA-Z0-9_-]/g, '_');
  if (spelled === name && name.length <= LONGEST_NAME) return name;
  const digest = createHash('sha256')
    .update(JSON.stringify([server, tool]))
    .digest('hex');
  return `${spelled.slice(0, LONGEST_NAME - 9)}_${digest.slice(0, 8)}`;
}
