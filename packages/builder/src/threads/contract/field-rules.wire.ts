import * as z from 'zod';
import { isUuid } from './uuid.js';

/** A text, measured in UTF-8 bytes. */
export const boundedText = (maxBytes: number) =>
  z
    .string()
    .min(1)
    .refine((text) => text.isWellFormed() && Buffer.byteLength(text) <= maxBytes, {
      error: `must be UTF-8 of at most ${maxBytes} bytes`,
    });

/** `sha256:` and 64 lower-case hex digits. */
export const sha256 = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/, 'must be sha256: and 64 hex digits');

/** A commit's id, of either hash. */
export const revision = z
  .string()
  .regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/i, 'must be 40 or 64 hex digits');

/** A UUID of any version; the nil one stands for nothing. */
export const uuid = z.string().refine(isUuid, { error: 'must be a UUID other than the nil one' });

/** A name that is safe in a path and in a log. */
export const safeId = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,128}$/, 'must be 1 to 128 of A-Z a-z 0-9 . _ -')
  .refine((id) => !/^\.+$/.test(id), { error: 'must not be of dots alone' });

/** A model as a CLI names it. */
export const modelId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/, 'must be 1 to 128 of A-Z a-z 0-9 . _ : / -');

/** A source or a mode of permissions. */
export const permissionName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, 'must be 1 to 64 of A-Z a-z 0-9 -');

/** `owner/name`. */
export const repositoryName = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,100}\/[A-Za-z0-9._-]{1,100}$/, 'must be owner/name');

/** A path inside a repository: no root, nothing that leads out of it. */
export const relativePath = z.string().refine(isSafeRelative, {
  error: 'must be a relative path without empty parts, . and ..',
});

/** An absolute path that leads nowhere else than it says. */
export const absolutePath = z
  .string()
  .refine((path) => path.startsWith('/') && isSafeRelative(path.slice(1)), {
    error: 'must be an absolute path without empty parts, . and ..',
  });

/** Whether a path is the folder or stands in it. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/** Whether two lists hold the same, each once, in whatever order. */
export function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  const set = new Set(one);
  return (
    one.length === set.size && one.length === other.length && other.every((item) => set.has(item))
  );
}

function isSafeRelative(path: string): boolean {
  if (path.includes('\0') || path.length > 4096 || !path.isWellFormed()) return false;
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}
