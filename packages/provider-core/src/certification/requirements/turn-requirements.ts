import { approvalByHost } from '../cases/approval-by-host.js';
import { approvalSurvivesRestart } from '../cases/approval-survives-restart.js';
import { archivedSession } from '../cases/archived-session.js';
import { backgroundWork } from '../cases/background-work.js';
import { compactionPhase } from '../cases/compaction-phase.js';
import { costOfTurns } from '../cases/cost.js';
import { durableBeforeTools } from '../cases/durable-before-tools.js';
import { exactDelivery } from '../cases/exact-delivery.js';
import { failuresAreTyped } from '../cases/failures.js';
import { fencedOwner } from '../cases/fenced-owner.js';
import { imagesInMessages } from '../cases/images.js';
import { interruptTurn } from '../cases/interrupt.js';
import { interruptedTurnFinishes } from '../cases/interrupted-turn-finishes.js';
import { processDeathMidTurn } from '../cases/process-death-mid-turn.js';
import { processOutlivesService } from '../cases/process-outlives-service.js';
import { questionByHost } from '../cases/question-by-host.js';
import { steerRunningTurn } from '../cases/steer.js';
import { turnParking } from '../cases/turn-parking.js';
import { turnReplay } from '../cases/turn-replay.js';
import { usageOfTurns } from '../cases/usage.js';
import { can, continues, type Requirement } from './requirement.js';

/** What holds of one turn, whatever dies in it, and of what may be asked while it runs. */
export const turnRequirements = {
  CertFencedOwner: {
    behaviour: 'An owner that was frozen and lost its lease puts nothing into the session.',
    requiredBy: continues,
    prove: fencedOwner,
    covers: ['B102'],
  },
  CertTurnReplay: {
    behaviour: 'A turn id gives its outcome again and sends nothing.',
    requiredBy: continues,
    prove: turnReplay,
    covers: ['B103'],
  },
  CertTurnParking: {
    behaviour: 'A turn the provider failed goes on with the nudge, never with the message.',
    requiredBy: continues,
    prove: turnParking,
    covers: ['B124'],
  },
  CertExactDelivery: {
    behaviour: 'The bytes given are the bytes at the model, or the message is refused untyped.',
    requiredBy: continues,
    prove: exactDelivery,
    covers: ['B55', 'B57', 'B64', 'B65'],
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
  CertProcessDeathMidTurn: {
    behaviour: 'The CLI dies after it took a message: the turn is settled, and finished by its id.',
    requiredBy: continues,
    prove: processDeathMidTurn,
    covers: ['B08', 'B90', 'B124'],
  },
  CertFailures: {
    behaviour: 'Each failure of the model has its type; no error and no empty text is an answer.',
    requiredBy: continues,
    prove: failuresAreTyped,
    covers: ['B108', 'B110'],
  },
  CertInterrupt: {
    behaviour: 'An interrupt settles the turn for good, also when the CLI no longer listens.',
    requiredBy: can('interrupt'),
    prove: interruptTurn,
    covers: ['B92'],
  },
  CertSteer: {
    behaviour: 'What is said of a text put into a running turn is what the model saw.',
    requiredBy: can('steer'),
    prove: steerRunningTurn,
  },
  CertApprovalByHost: {
    behaviour: 'The host allows or denies a tool call; silence denies it, and nothing hangs.',
    requiredBy: can('approve'),
    prove: approvalByHost,
    covers: ['B113'],
  },
  CertApprovalSurvivesRestart: {
    behaviour: 'A request that waits while the service dies is delivered again, under the same id.',
    requiredBy: (claims) => can('approve')(claims) && claims.capabilities.process.outlives,
    prove: approvalSurvivesRestart,
  },
  CertQuestionByHost: {
    behaviour: 'The host’s answer to a question is what the model is told.',
    requiredBy: can('answer_question'),
    prove: questionByHost,
  },
  CertBackgroundWork: {
    behaviour: 'An answer and quiescence are two facts, and the caller waits for either.',
    requiredBy: can('background_work'),
    prove: backgroundWork,
    covers: ['B88'],
  },
  CertCompaction: {
    behaviour: 'A compaction is a phase of its turn, and no answer after it completes nothing.',
    requiredBy: can('compaction'),
    prove: compactionPhase,
    covers: ['B101'],
  },
  CertUsage: {
    behaviour: 'Tokens are those of the turn alone, after a resume too, and the total only grows.',
    requiredBy: can('usage'),
    prove: usageOfTurns,
    covers: ['B121'],
  },
  CertCost: {
    behaviour: 'A turn tells what it alone cost, after a resume too.',
    requiredBy: can('cost'),
    prove: costOfTurns,
  },
  CertImages: {
    behaviour: 'The bytes of an image are at the model and stay in the session.',
    requiredBy: can('images'),
    prove: imagesInMessages,
  },
  CertArchive: {
    behaviour: 'An archived session is put away at the provider and takes no message any more.',
    requiredBy: can('archive'),
    prove: archivedSession,
  },
} as const satisfies Record<`Cert${string}`, Requirement>;
