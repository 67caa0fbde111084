import type { ProviderCapabilities, StableField, Verb } from '../../spec/capabilities.js';
import { apiApproval } from '../cases/history/approval.js';
import { historyContinuation } from '../cases/history/continuation.js';
import { apiFailures } from '../cases/history/failures.js';
import {
  exactHistory,
  imagesInHistory,
  interruptedHistory,
  streamedAnswer,
} from '../cases/history/messages.js';
import { apiLease, apiQueue } from '../cases/history/owners.js';
import { archivedHistory, noHistory, nonApplicable } from '../cases/history/refusals.js';
import { apiSettings, apiStableFields } from '../cases/history/stable-fields.js';
import { toolCallOnce } from '../cases/history/tool-call-once.js';
import { apiUsage } from '../cases/history/usage.js';
import type { HistorySubject } from '../history-subject.js';

/** One behaviour of an agent over a model API, the claim that makes it binding, and the proof of it. */
export interface HistoryRequirement {
  readonly behaviour: string;
  /** The claims that make this requirement binding. */
  readonly requiredBy: (capabilities: ProviderCapabilities) => boolean;
  readonly prove: (subject: HistorySubject) => Promise<void>;
}

const keepsHistory = ({ continuation }: ProviderCapabilities) => continuation === 'history';
const can = (verb: Verb) => (capabilities: ProviderCapabilities) =>
  keepsHistory(capabilities) && capabilities.verbs[verb] !== false;

const fields: readonly StableField[] = [
  'working_dir',
  'mcp_config',
  'system_prompt',
  'model',
  'tool_policy',
  'provider',
];

/** What holds of every provider whose conversation is kept by us. */
export const historyRequirements = {
  CertHistoryContinuation: {
    behaviour: 'Another process goes on from our history after kill -9, each message in its role.',
    requiredBy: keepsHistory,
    prove: historyContinuation,
  },
  CertNonApplicable: {
    behaviour: 'The layer that keeps no history is not applicable at once, and sends nothing.',
    requiredBy: keepsHistory,
    prove: nonApplicable,
  },
  CertNoHistory: {
    behaviour: 'No handle and no transcript is not continuable, and nothing is sent.',
    requiredBy: keepsHistory,
    prove: noHistory,
  },
  CertToolCallOnce: {
    behaviour: 'A kill between a tool’s call and its result never makes a second effect.',
    requiredBy: (capabilities) => keepsHistory(capabilities) && capabilities.durableBeforeTools,
    prove: toolCallOnce,
  },
  CertApiExactDelivery: {
    behaviour: 'The bytes given are the bytes at the model, or the message is refused unsent.',
    requiredBy: (capabilities) =>
      keepsHistory(capabilities) && capabilities.normalises.length === 0,
    prove: exactHistory,
  },
  CertApiImages: {
    behaviour: 'The bytes of an image are at the model, and again in every later request.',
    requiredBy: can('images'),
    prove: imagesInHistory,
  },
  CertApiStreaming: {
    behaviour: 'What the model says is told piece by piece, and the pieces are the answer.',
    requiredBy: keepsHistory,
    prove: streamedAnswer,
  },
  CertApiInterrupt: {
    behaviour: 'An interrupt ends the request or the tool, and settles the turn for good.',
    requiredBy: can('interrupt'),
    prove: interruptedHistory,
  },
  CertApiFailures: {
    behaviour: 'Each failure of the model has its type, is asked once, and is never an answer.',
    requiredBy: keepsHistory,
    prove: apiFailures,
  },
  CertApiStableFields: {
    behaviour: 'Each stable setting changed alone is named, and nothing is sent.',
    requiredBy: ({ stableFields, requiresStableWorkingDir, continuation }) =>
      continuation === 'history' &&
      requiresStableWorkingDir &&
      fields.every((field) => stableFields.includes(field)),
    prove: apiStableFields,
  },
  CertApiSettings: {
    behaviour: 'Model, system prompt, tools and policy hold in every request of every process.',
    requiredBy: (capabilities) =>
      keepsHistory(capabilities) &&
      Object.values(capabilities.settings).length === 4 &&
      Object.values(capabilities.settings).every((kept) => kept === 'repeated, not reported'),
    prove: apiSettings,
  },
  CertApiLease: {
    behaviour: 'One process writes a session; another is refused or waits, and the dead hold none.',
    requiredBy: keepsHistory,
    prove: apiLease,
  },
  CertApiApproval: {
    behaviour: 'The host allows or denies a call, silence denies, and kill -9 loses no request.',
    requiredBy: can('approve'),
    prove: apiApproval,
  },
  CertApiQueue: {
    behaviour: 'Queued messages outlive their process, keep their order, and go in once each.',
    requiredBy: keepsHistory,
    prove: apiQueue,
  },
  CertApiUsage: {
    behaviour: 'A turn’s tokens are those of all its requests, the total those of all processes.',
    requiredBy: can('usage'),
    prove: apiUsage,
  },
  CertApiArchive: {
    behaviour: 'A session that was put away takes no message any more.',
    requiredBy: can('archive'),
    prove: archivedHistory,
  },
} as const satisfies Record<`Cert${string}`, HistoryRequirement>;

/** The id of a certification of model APIs. */
export type HistoryCertificationId = keyof typeof historyRequirements;

/** Every such id, in the order of the table. */
export const historyCertificationIds = Object.keys(historyRequirements).filter(isId);

/** The requirements that these claims make binding. */
export function listBoundHistoryRequirements(
  capabilities: ProviderCapabilities,
): readonly HistoryCertificationId[] {
  return historyCertificationIds.filter((id) => historyRequirements[id].requiredBy(capabilities));
}

function isId(id: string): id is HistoryCertificationId {
  return id in historyRequirements;
}
