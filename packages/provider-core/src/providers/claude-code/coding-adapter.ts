import type { CodingAdapter, CodingPlan, CodingPlanRequest } from '../../spec/coding-adapter.js';
import type { ToolPolicy } from '../../spec/session-config.js';

/** Claude Code for coding jobs, as a process that reads and writes JSON lines. It cannot put a conversation away itself. */
export const codingAdapter: CodingAdapter = {
  adapterId: 'claude-code-v1',
  adapterVersion: '2.1.332-holdfast-v1',
  adapterProtocolVersion: 'claude-cli-stream-json-v1',
  actionKind: 'coding.claude-code-v1',
  archive: 'tombstone',
  permissionModes: {
    'agent-policy': ['dontAsk', 'bypassPermissions'],
    'claude-cli': ['inherit', 'dontAsk', 'bypassPermissions'],
  },
  plan: planCodingSession,
};

function planCodingSession(request: CodingPlanRequest): CodingPlan {
  const { role, workTree, scratch } = request;
  const mode = readMode(request);
  return {
    config: {
      workingDir: role === 'review' ? scratch : workTree,
      toolPolicy: POLICIES[mode](request),
    },
    unenforced: UNENFORCED[mode](request),
  };
}

type Mode =
  | 'agent-policy dontAsk'
  | 'agent-policy bypassPermissions'
  | 'claude-cli inherit'
  | 'claude-cli dontAsk'
  | 'claude-cli bypassPermissions';

const POLICIES: Readonly<Record<Mode, (request: CodingPlanRequest) => ToolPolicy>> = {
  'agent-policy dontAsk': planPolicy,
  'agent-policy bypassPermissions': () => ({ permissions: 'full' }),
  'claude-cli inherit': () => ({ permissions: 'full', inherit: true }),
  // What the owner's rules allow; nobody answers, so that everything else is refused.
  'claude-cli dontAsk': () => ({ permissions: 'ask' }),
  'claude-cli bypassPermissions': () => ({ permissions: 'full' }),
};

/** Nobody answers: what is not allowed here is refused. */
function planPolicy({ role, workTree, hiddenFolders }: CodingPlanRequest): ToolPolicy {
  const hidden = hiddenFolders.map((folder) => `Read(/${folder}/**)`);
  if (role === 'implement') {
    return { permissions: 'edit', allow: ['Bash'], deny: [...NETWORK_TOOLS, ...hidden] };
  }
  return {
    permissions: 'ask',
    allow: [`Read(/${workTree}/**)`],
    // Without a namespace a command could write anywhere.
    deny: ['Bash', 'Edit', 'Write', 'NotebookEdit', ...NETWORK_TOOLS, ...hidden],
  };
}

const NETWORK_TOOLS = ['WebFetch', 'WebSearch'];

const COMMANDS_ARE_FREE = 'commands may write, read and reach all that the user may';

const UNENFORCED: Readonly<Record<Mode, (request: CodingPlanRequest) => readonly string[]>> = {
  'agent-policy dontAsk': ({ role }) => (role === 'implement' ? [COMMANDS_ARE_FREE] : []),
  'agent-policy bypassPermissions': () => [COMMANDS_ARE_FREE],
  'claude-cli inherit': () => [
    'what commands may write, read and reach is what the owner configured',
  ],
  'claude-cli dontAsk': () => [
    'what commands may write, read and reach is what the owner configured',
  ],
  'claude-cli bypassPermissions': () => [COMMANDS_ARE_FREE],
};

function readMode({ permissions: { source, mode } }: CodingPlanRequest): Mode {
  const named = `${source} ${mode}`;
  if (isMode(named)) return named;
  throw new TypeError(`${codingAdapter.adapterId} has no permission mode ${source}/${mode}.`);
}

function isMode(named: string): named is Mode {
  return named in POLICIES;
}
