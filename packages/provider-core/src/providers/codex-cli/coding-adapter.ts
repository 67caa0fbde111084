import type { CodingAdapter, CodingPlan, CodingPlanRequest } from '../../spec/coding-adapter.js';
import type { SessionConfig } from '../../spec/session-config.js';
import { payerSettings } from './payer-settings.js';

/** Codex for coding jobs, behind an app-server of the job's own. It confines what it runs by its own sandbox. */
export const codingAdapter: CodingAdapter = {
  adapterId: 'codex-app-server-v1',
  adapterVersion: '0.171.0-holdfast-v1',
  adapterProtocolVersion: 'codex-app-server-v2',
  actionKind: 'coding.codex-app-server-v1',
  archive: 'native',
  permissionModes: {
    'agent-policy': ['managed'],
    'codex-cli': ['inherit', 'trusted-personal-unattended'],
  },
  payerSettings,
  plan: planCodingSession,
};

/** The output schema is left to the prompt: the server's queue, by which every message goes in, takes none. */
function planCodingSession(request: CodingPlanRequest): CodingPlan {
  const { role, workTree, scratch, writableRoots } = request;
  const base: SessionConfig = {
    workingDir: role === 'review' ? scratch : workTree,
    // Commands find here what `/tmp` would be; the one place besides their own that they may write.
    env: { TMPDIR: scratch },
  };
  switch (readMode(request)) {
    case 'managed': {
      const roots = role === 'review' ? [scratch] : [...new Set([...writableRoots, scratch])];
      return {
        config: { ...base, toolPolicy: { permissions: 'edit' }, writableRoots: roots },
        unenforced: [...NOT_HIDDEN, ...listLooseRoots(request)],
      };
    }
    case 'inherit':
      return {
        config: { ...base, toolPolicy: { permissions: 'full', inherit: true } },
        unenforced: ['what commands may write, read and reach is what the owner configured'],
      };
    case 'trusted-personal-unattended':
      return {
        config: { ...base, toolPolicy: { permissions: 'full' } },
        unenforced: ['commands may write, read and reach all that the owner may'],
      };
  }
}

const NOT_HIDDEN = [
  'commands may read every file that the user may',
  'commands that rules in the home of the CLI allow run outside its sandbox',
];

/** Codex always lets commands write the working directory. */
function listLooseRoots({ role, workTree, writableRoots }: CodingPlanRequest): readonly string[] {
  if (role === 'review' || writableRoots.includes(workTree)) return [];
  return ['commands may write the whole work tree, beyond the writable roots'];
}

type Mode = 'managed' | 'inherit' | 'trusted-personal-unattended';

function readMode({ permissions: { source, mode } }: CodingPlanRequest): Mode {
  if (source === 'agent-policy' && mode === 'managed') return mode;
  if (source === 'codex-cli' && mode === 'inherit') return mode;
  if (source === 'codex-cli' && mode === 'trusted-personal-unattended') return mode;
  throw new TypeError(`${codingAdapter.adapterId} has no permission mode ${source}/${mode}.`);
}
