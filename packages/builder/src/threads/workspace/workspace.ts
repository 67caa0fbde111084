import type { GitDir } from './git-dir.js';

/** A job's rebuilt repository. Each path is the same for every job of a thread. */
export interface Workspace extends GitDir {
  /** Where the CLI works; a reviewer may not write here. */
  readonly workTree: string;
  /** Empty, and the only place where a reviewer may write. */
  readonly scratch: string;
  /** Outside of both, so that no job that is confined writes here. */
  readonly gitDir: string;
  readonly baseTree: string;
  /** What was checked out: the base with the stored patch, or with the candidate. Its paths count even where ignored. */
  readonly tree: string;
}

/** How much a patch may be. */
export interface PatchBounds {
  readonly maximumPatchBytes: number;
  readonly maximumChangedFiles: number;
  /** Of the files that a turn changed, before they are stored; 64 MiB when absent. */
  readonly maximumChangedBytes?: number | undefined;
}
