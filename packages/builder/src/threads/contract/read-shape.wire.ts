import type * as z from 'zod';
import { CodingThreadError, type CodingThreadErrorKind } from '../coding-thread-error.js';

/** A rule that a shape breaks, and where. */
export interface BrokenRule {
  readonly path: string;
  readonly rule: string;
}

/** What is read, as people call it, and which refusal it is when it is none. */
export interface ShapeName {
  readonly what: string;
  readonly kind: CodingThreadErrorKind;
}

/** Reads a closed shape; what is none is refused with the path and the rule that it breaks. */
export function readShape<Shape>(schema: z.ZodType<Shape>, value: unknown, name: ShapeName): Shape {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw refuseShape(name, nameIssue(parsed.error.issues[0], name));
}

/** The refusal of a shape. */
export function refuseShape(
  { what, kind }: ShapeName,
  { path, rule }: BrokenRule,
): CodingThreadError {
  const where = path.slice(0, 200);
  return new CodingThreadError(kind, `The ${what} is refused: ${where || 'it'} ${rule}.`, {
    evidence: { path: where, rule },
  });
}

function nameIssue(issue: z.core.$ZodIssue | undefined, { what }: ShapeName): BrokenRule {
  const path = issue?.path.map(String) ?? [];
  if (issue?.code === 'unrecognized_keys') {
    return { path: [...path, ...issue.keys.slice(0, 1)].join('.'), rule: 'is unknown' };
  }
  return { path: path.join('.'), rule: issue?.message ?? `is no ${what}` };
}
