import type { CodingAdapter, CodingPlan, CodingPlanRequest } from '../../spec/coding-adapter.js';
import type { ToolPolicy } from '../../spec/session-config.js';
import { planNamespace } from './namespace.js';
import { payerSettings } from './payer-settings.wire.js';

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
  payerSettings,
  plan: planCodingSession,
};

function planCodingSession(request: CodingPlanRequest): CodingPlan {
  const { role, workTree, scratch, bubblewrap, outputSchema } = request;
  const mode = readMode(request);
  const namespace = bubblewrap === undefined ? undefined : planNamespace(bubblewrap, request);
  const temporaryFolder = namespace?.temporaryFolder ?? scratch;
  return {
    config: {
      workingDir: role === 'review' ? scratch : workTree,
      toolPolicy: POLICIES[mode](request),
      env: { TMPDIR: temporaryFolder, CLAUDE_CODE_TMPDIR: temporaryFolder },
      ...(namespace ? { launcher: namespace.launcher } : {}),
      ...(outputSchema ? { outputSchema } : {}),
    },
    unenforced: namespace ? IN_NAMESPACE : WITHOUT_NAMESPACE[mode](request),
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
function planPolicy({ role, workTree, bubblewrap }: CodingPlanRequest): ToolPolicy {
  const deny = ['WebFetch', 'WebSearch'];
  if (role === 'implement') return { permissions: 'edit', allow: ['Bash'], deny };
  // Two slashes begin an absolute path; with one it would be below the settings file.
  const allow = [`Read(/${workTree}/**)`];
  if (bubblewrap !== undefined) {
    return { permissions: 'edit', allow: ['Bash', ...allow], deny };
  }
  // Without a namespace a command could write anywhere.
  const noWriting = ['Bash', 'Edit', 'Write', 'NotebookEdit'];
  return { permissions: 'ask', allow, deny: [...noWriting, ...deny] };
}

const IN_NAMESPACE = [
  'commands may use the network',
  'commands may speak to whatever listens on a socket of the user, and have it act outside',
  'commands may read every file of the user outside the hidden folders',
  'commands may signal other processes of the user',
  'commands may change the files of the CLI and of its session',
];

const FREE_COMMANDS = ['commands may write, read and reach all that the user may'];
const OWNER_DECIDES = ['what commands may write, read and reach is what the owner configured'];

const WITHOUT_NAMESPACE: Readonly<Record<Mode, (request: CodingPlanRequest) => readonly string[]>> =
  {
    'agent-policy dontAsk': ({ role }) => (role === 'implement' ? FREE_COMMANDS : []),
    'agent-policy bypassPermissions': () => FREE_COMMANDS,
    'claude-cli inherit': () => OWNER_DECIDES,
    'claude-cli dontAsk': () => OWNER_DECIDES,
    'claude-cli bypassPermissions': () => FREE_COMMANDS,
  };

function readMode({ permissions: { source, mode } }: CodingPlanRequest): Mode {
  const named = `${source} ${mode}`;
  if (isMode(named)) return named;
  throw new TypeError(`${codingAdapter.adapterId} has no permission mode ${source}/${mode}.`);
}

function isMode(named: string): named is Mode {
  return Object.hasOwn(POLICIES, named);
}
