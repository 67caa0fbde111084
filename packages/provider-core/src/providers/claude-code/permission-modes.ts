import type { PermissionLevel } from '../../spec/session-config.js';

/** The CLI's own mode for each level. */
export const permissionModes: Readonly<Record<PermissionLevel, string>> = {
  read_only: 'plan',
  ask: 'default',
  edit: 'acceptEdits',
  full: 'bypassPermissions',
};

/** From strict to loose; `dontAsk` refuses what `default` would ask for. A mode not named here is looser than all. */
const STRICT_TO_LOOSE = ['plan', 'dontAsk', 'default', 'acceptEdits', 'bypassPermissions'];

/** The modes that allow no more than the level does. */
export function readAllowedModes(permissions: PermissionLevel): readonly string[] {
  return STRICT_TO_LOOSE.slice(0, STRICT_TO_LOOSE.indexOf(permissionModes[permissions]) + 1);
}

/** The level that a mode comes to. One not named here counts as the loosest. */
export function readPermissionLevel(mode: string): PermissionLevel {
  switch (mode) {
    case 'plan':
      return 'read_only';
    case 'dontAsk':
    case 'default':
      return 'ask';
    case 'acceptEdits':
      return 'edit';
    default:
      return 'full';
  }
}
