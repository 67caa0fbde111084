import { handleRoundTrip } from '../cases/handle-round-trip.js';
import { historyGone } from '../cases/history-gone.js';
import { leaseAcrossProcesses } from '../cases/lease-across-processes.js';
import { lifecycleEvents } from '../cases/lifecycle-events.js';
import { nativeResumeOnlyLatestMessage } from '../cases/native-resume-only-latest-message.js';
import { noChildSurvives } from '../cases/no-child-survives.js';
import { nonContinuableError } from '../cases/non-continuable-error.js';
import { orphansAreReaped } from '../cases/orphans.js';
import { parallelSessions } from '../cases/parallel-sessions.js';
import { sessionContinuationAfterLoss } from '../cases/session-continuation-after-loss.js';
import { sessionIdentity } from '../cases/session-identity.js';
import { versionBeyondCertified } from '../cases/version-beyond-certified.js';
import type { Claims } from '../claims.js';
import { continues, isInTmux, keeps, type Requirement } from './requirement.js';

const resumesInTmux = (claims: Claims) =>
  isInTmux(claims) && claims.capabilities.nativeResumeInTmux;

/** What holds of a session as a whole. */
export const sessionRequirements = {
  CertSessionContinuationAfterTmuxLoss: {
    behaviour:
      'After the loss of its pane, of the tmux server or of every process, a session continues from the handle alone and recalls the codeword.',
    requiredBy: resumesInTmux,
    prove: sessionContinuationAfterLoss,
    covers: ['B02', 'B21', 'B22', 'B26', 'B34'],
  },
  CertSessionContinuationAfterProcessLoss: {
    behaviour:
      'Without a terminal, after the loss of every process, a session continues from the handle alone and recalls the codeword.',
    requiredBy: (claims) => !isInTmux(claims) && continues(claims),
    prove: sessionContinuationAfterLoss,
    covers: ['B02', 'B21', 'B34'],
  },
  CertNativeResumeOnlyLatestMessage: {
    behaviour: 'A native resume sends the latest user message and replays nothing.',
    requiredBy: ({ capabilities }) => capabilities.continuation === 'native',
    prove: nativeResumeOnlyLatestMessage,
    covers: ['B34'],
  },
  CertHandleRoundTrip: {
    behaviour: 'A handle survives JSON with the keys of a newer version, and continues.',
    requiredBy: continues,
    prove: handleRoundTrip,
  },
  CertNonContinuableError: {
    behaviour: 'What cannot be continued fails typed and never becomes a fresh session.',
    requiredBy: (claims) => continues(claims) && keeps('provider')(claims),
    prove: nonContinuableError,
    covers: ['B14', 'B20', 'B25'],
  },
  CertHistoryGone: {
    behaviour: 'A history that the CLI deleted for its age is told apart from one that is lost.',
    requiredBy: (claims) => continues(claims) && claims.deletesHistory,
    prove: historyGone,
    covers: ['B25'],
  },
  CertSessionIdentity: {
    behaviour: 'The id asked for, reported and stored is one, after a start and every resume.',
    requiredBy: keeps('native_session_id'),
    prove: sessionIdentity,
    covers: ['B01', 'B24'],
  },
  CertParallelSessions: {
    behaviour: 'Two sessions in one folder run at once, each with its own memory.',
    requiredBy: continues,
    prove: parallelSessions,
    covers: ['B26'],
  },
  CertLeaseAcrossProcesses: {
    behaviour: 'Of two processes one writes; the other hears who owns the session, or waits.',
    requiredBy: continues,
    prove: leaseAcrossProcesses,
    covers: ['B102', 'B105', 'B107'],
  },
  CertNoChildSurvives: {
    behaviour: 'No child of the CLI survives an interrupt or close.',
    requiredBy: continues,
    prove: noChildSurvives,
    covers: ['B84'],
  },
  CertOrphans: {
    behaviour:
      'What an earlier run left running is found and ended; a foreign process is not touched.',
    requiredBy: continues,
    prove: orphansAreReaped,
    covers: ['B84'],
  },
  CertLifecycleEvents: {
    behaviour: 'Each lifecycle event comes when its cause is real.',
    requiredBy: (claims) => (isInTmux(claims) ? resumesInTmux(claims) : continues(claims)),
    prove: lifecycleEvents,
  },
  CertVersionBeyondCertified: {
    behaviour:
      'A version newer than any that was certified runs with what is claimed, and says so.',
    requiredBy: continues,
    prove: versionBeyondCertified,
    covers: ['B86'],
  },
} as const satisfies Record<`Cert${string}`, Requirement>;
