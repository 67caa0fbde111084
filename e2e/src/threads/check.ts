import { CodingCallError } from './coding-process.js';

/** One thing that must hold. */
export interface StageCheck {
  readonly name: string;
  readonly passed: boolean;
  /** What was seen instead, where it does not hold. */
  readonly seen?: string;
}

/** Says whether what was found is what was wanted, as JSON. */
export function check(name: string, found: unknown, wanted: unknown): StageCheck {
  const [seen, expected] = [JSON.stringify(found), JSON.stringify(wanted)];
  return seen === expected && found !== undefined
    ? { name, passed: true }
    : { name, passed: false, seen: seen ?? 'nothing' };
}

/** The kind of the typed error that something ends in; `none` when it ends well. */
export async function kindOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'none';
  } catch (error) {
    if (error instanceof CodingCallError) return error.kind;
    throw error;
  }
}
