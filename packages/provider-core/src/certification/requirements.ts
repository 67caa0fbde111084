import { durableBeforeTools } from './cases/durable-before-tools.js';
import { exactDelivery } from './cases/exact-delivery.js';
import { fencedOwner } from './cases/fenced-owner.js';
import { handleRoundTrip } from './cases/handle-round-trip.js';
import { interruptedTurnFinishes } from './cases/interrupted-turn-finishes.js';
import { leaseAcrossProcesses } from './cases/lease-across-processes.js';
import { lifecycleEvents } from './cases/lifecycle-events.js';
import { mixedTextBlocked } from './cases/mixed-text-blocked.js';
import { nativeResumeOnlyLatestMessage } from './cases/native-resume-only-latest-message.js';
import { noChildSurvives } from './cases/no-child-survives.js';
import { nonContinuableError } from './cases/non-continuable-error.js';
import { permissionsAfterResume } from './cases/permissions-after-resume.js';
import { personsDraftKept } from './cases/persons-draft-kept.js';
import { processOutlivesService } from './cases/process-outlives-service.js';
import { sessionContinuationAfterTmuxLoss } from './cases/session-continuation-after-tmux-loss.js';
import { sessionIdChange } from './cases/session-id-change.js';
import { sessionIdentity } from './cases/session-identity.js';
import { stableAccount } from './cases/stable-account.js';
import { stableMcpConfig } from './cases/stable-mcp-config.js';
import { stableModel } from './cases/stable-model.js';
import { stableSystemPrompt } from './cases/stable-system-prompt.js';
import { stableWorkingDir } from './cases/stable-working-dir.js';
import { turnParking } from './cases/turn-parking.js';
import { turnReplay } from './cases/turn-replay.js';
import { virginHome } from './cases/virgin-home.js';
import type { CertificationSubject, Claims } from './subject.js';

/** One behaviour, the claim that makes it binding, and the proof of it. */
export interface Requirement {
  readonly behaviour: string;
  /** The capability claim that makes this requirement binding. */
  readonly requiredBy: (claims: Claims) => boolean;
  readonly prove: (subject: CertificationSubject) => Promise<void>;
}

const resumes = ({ capabilities }: Claims) => capabilities.nativeResumeInTmux;
const continues = ({ capabilities }: Claims) => capabilities.tmuxContinuation;
const isTypedInto = ({ transports }: Claims) => transports.tmux?.kind === 'typed_pane';

/** Every certification, by its id. */
export const requirements = {
  CertSessionContinuationAfterTmuxLoss: {
    behaviour:
      'After the loss of its pane, of the tmux server or of every process, a session continues from the handle alone and recalls the codeword.',
    requiredBy: resumes,
    prove: sessionContinuationAfterTmuxLoss,
  },
  CertNativeResumeOnlyLatestMessage: {
    behaviour: 'A native resume sends the latest user message and replays nothing.',
    requiredBy: ({ capabilities }) => capabilities.continuation === 'native',
    prove: nativeResumeOnlyLatestMessage,
  },
  CertHandleRoundTrip: {
    behaviour: 'A handle survives JSON with the keys of a newer version, and continues.',
    requiredBy: continues,
    prove: handleRoundTrip,
  },
  CertNonContinuableError: {
    behaviour: 'What cannot be continued fails typed and never becomes a fresh session.',
    requiredBy: (claims) =>
      continues(claims) && claims.capabilities.stableFields.includes('provider'),
    prove: nonContinuableError,
  },
  CertStableWorkingDir: {
    behaviour: 'Another working directory is a stale handle.',
    requiredBy: ({ capabilities }) =>
      capabilities.requiresStableWorkingDir && capabilities.stableFields.includes('working_dir'),
    prove: stableWorkingDir,
  },
  CertStableAccount: {
    behaviour: 'Another CLI home is a stale handle.',
    requiredBy: ({ capabilities }) => capabilities.stableFields.includes('account'),
    prove: stableAccount,
  },
  CertSessionIdentity: {
    behaviour: 'The id asked for, reported and stored is one, after a start and every resume.',
    requiredBy: ({ capabilities }) => capabilities.stableFields.includes('native_session_id'),
    prove: sessionIdentity,
  },
  CertSessionIdChange: {
    behaviour: 'A page that moves the session to another id never gets the message.',
    requiredBy: isTypedInto,
    prove: sessionIdChange,
  },
  CertStableModel: {
    behaviour: 'A resume asks the same model, and another model is a stale handle.',
    requiredBy: ({ capabilities }) =>
      capabilities.stableFields.includes('model') && Boolean(capabilities.settings.model),
    prove: stableModel,
  },
  CertStableSystemPrompt: {
    behaviour: 'The system prompt is in force after a resume, and another one is a stale handle.',
    requiredBy: ({ capabilities }) =>
      capabilities.stableFields.includes('system_prompt') &&
      Boolean(capabilities.settings.systemPrompt),
    prove: stableSystemPrompt,
  },
  CertStableMcpConfig: {
    behaviour: 'The MCP servers are offered after a resume, and other servers are a stale handle.',
    requiredBy: ({ capabilities }) =>
      capabilities.stableFields.includes('mcp_config') && Boolean(capabilities.settings.mcpServers),
    prove: stableMcpConfig,
  },
  CertPermissionsAfterResume: {
    behaviour:
      'Permissions after a resume are those before, and a looser policy is a stale handle.',
    requiredBy: ({ capabilities }) =>
      capabilities.stableFields.includes('tool_policy') &&
      Boolean(capabilities.settings.permissions),
    prove: permissionsAfterResume,
  },
  CertLeaseAcrossProcesses: {
    behaviour: 'Of two processes one writes; the other hears who owns the session, or waits.',
    requiredBy: continues,
    prove: leaseAcrossProcesses,
  },
  CertFencedOwner: {
    behaviour: 'An owner that was frozen and lost its lease puts nothing into the session.',
    requiredBy: continues,
    prove: fencedOwner,
  },
  CertTurnReplay: {
    behaviour: 'A turn id gives its outcome again and sends nothing.',
    requiredBy: continues,
    prove: turnReplay,
  },
  CertTurnParking: {
    behaviour: 'A turn the provider failed goes on with the nudge, never with the message.',
    requiredBy: continues,
    prove: turnParking,
  },
  CertExactDelivery: {
    behaviour: 'The bytes given are the bytes at the model, or the message is refused untyped.',
    requiredBy: continues,
    prove: exactDelivery,
  },
  CertDurableBeforeTools: {
    behaviour: 'When a tool runs, its user message is already in the provider’s record.',
    requiredBy: ({ capabilities }) => capabilities.durableBeforeTools,
    prove: durableBeforeTools,
  },
  CertInterruptedTurnFinishes: {
    behaviour: 'A turn that a crash cut off is finished by the provider itself, without a nudge.',
    requiredBy: ({ capabilities }) => capabilities.finishesInterruptedTurns,
    prove: interruptedTurnFinishes,
  },
  CertProcessOutlivesService: {
    behaviour: 'The service dies in mid-turn, the turn goes on, and its id finds the answer.',
    requiredBy: ({ capabilities }) => capabilities.process.outlives,
    prove: processOutlivesService,
  },
  CertNoChildSurvives: {
    behaviour: 'No child of the CLI survives an interrupt or close.',
    requiredBy: continues,
    prove: noChildSurvives,
  },
  CertLifecycleEvents: {
    behaviour: 'Each of the seven lifecycle events comes when its cause is real.',
    requiredBy: resumes,
    prove: lifecycleEvents,
  },
  CertPersonsDraftKept: {
    behaviour: 'A draft that a person left makes the session busy and is kept.',
    requiredBy: isTypedInto,
    prove: personsDraftKept,
  },
  CertMixedTextBlocked: {
    behaviour: 'A text that holds ours and what a person added is blocked.',
    requiredBy: isTypedInto,
    prove: mixedTextBlocked,
  },
  CertVirginHome: {
    behaviour: 'A CLI that was never set up ends in `blocked`, and nothing is pressed.',
    requiredBy: isTypedInto,
    prove: virginHome,
  },
} as const satisfies Record<`Cert${string}`, Requirement>;

/** The id of a certification. */
export type CertificationId = keyof typeof requirements;

/** The requirements that these claims make binding. */
export function listBoundRequirements(claims: Claims): readonly [CertificationId, Requirement][] {
  return certificationIds
    .map((id): [CertificationId, Requirement] => [id, requirements[id]])
    .filter(([, { requiredBy }]) => requiredBy(claims));
}

/** Every certification id, in the order of the table. */
export const certificationIds = Object.keys(requirements).filter(isCertificationId);

function isCertificationId(id: string): id is CertificationId {
  return id in requirements;
}
