import { CodingThreadError } from '../coding-thread-error.js';

/** Why a patch is not taken. */
export type PatchRule =
  | 'maximum-patch-bytes'
  | 'maximum-changed-files'
  | 'maximum-changed-bytes'
  | 'path-encoding'
  | 'writable-roots'
  | 'protected-path'
  | 'file-mode'
  | 'gitlink'
  | 'link-leaves-root'
  | 'case-collision'
  | 'not-storable'
  | 'not-applicable'
  | 'not-canonical';

/** What is wrong, and where; `path` is empty where it is the whole patch. */
export interface PatchRefusal {
  readonly path: string;
  readonly rule: PatchRule;
  readonly detail?: string | undefined;
}

/** A patch that is not taken, with the path and the rule. */
export function patchRefused(refusal: PatchRefusal, options?: ErrorOptions): CodingThreadError {
  const { path, rule, detail } = refusal;
  const where = path === '' ? 'The patch' : JSON.stringify(path);
  const why = detail === undefined ? rule : `${rule} (${detail})`;
  return new CodingThreadError(
    'patch_refused',
    `${where} is refused: ${why}.`,
    { evidence: { path, rule, ...(detail === undefined ? {} : { detail }) } },
    options,
  );
}
