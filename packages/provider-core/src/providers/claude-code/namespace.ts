import type { CodingPlanRequest } from '../../spec/coding-adapter.js';

/** A launcher that gives the CLI a file system of its own, and where its temporary files go in there. */
export interface Namespace {
  readonly launcher: readonly string[];
  readonly temporaryFolder: string;
}

type Mount = readonly [kind: '--tmpfs' | '--ro-bind' | '--bind', path: string];

const PRIVATE_TMP = '/tmp';

/**
 * The whole root to read, and to write only what is named. The pids are the machine's own: the CLI's list of its processes names
 * them. No user of it holds a capability, so that no mount can be undone, and no other process of the user can be looked into.
 */
export function planNamespace(bubblewrap: string, request: CodingPlanRequest): Namespace {
  const { workTree, gitDir, scratch, hiddenFolders, ownFolders } = request;
  const writable = [
    scratch,
    ...ownFolders,
    ...(request.role === 'implement' ? request.writableRoots : []),
  ];
  // A private one would hide what stands in there.
  const isTmpFree = [workTree, ...writable].every((path) => !isWithin(path, PRIVATE_TMP));
  const mounts: readonly Mount[] = [
    ...(isTmpFree ? [['--tmpfs', PRIVATE_TMP] as const] : []),
    ...hiddenFolders.map((path) => ['--tmpfs', path] as const),
    ['--ro-bind', workTree],
    ...(gitDir === undefined ? [] : [['--ro-bind', gitDir] as const]),
    ...writable.map((path) => ['--bind', path] as const),
  ];
  return {
    launcher: [
      bubblewrap,
      ...['--die-with-parent', '--unshare-user-try', '--unshare-ipc', '--cap-drop', 'ALL'],
      ...['--ro-bind', '/', '/', '--dev', '/dev'],
      ...outermostFirst(mounts).flatMap(writeMount),
      '--',
    ],
    temporaryFolder: isTmpFree ? PRIVATE_TMP : scratch,
  };
}

function writeMount([kind, path]: Mount): readonly string[] {
  return kind === '--tmpfs' ? [kind, path] : [kind, path, path];
}

/** What stands in another folder is mounted after it; of two on one path the later one counts. */
function outermostFirst(mounts: readonly Mount[]): readonly Mount[] {
  return mounts.toSorted(([, one], [, other]) => depthOf(one) - depthOf(other));
}

function depthOf(path: string): number {
  return path.split('/').filter((part) => part !== '').length;
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
