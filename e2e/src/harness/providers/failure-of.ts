import {
  brokenStream,
  contextTooLong,
  type FailureName,
  historyRejected,
  type ModelProtocol,
  modelNotFound,
  overloaded,
  rateLimited,
  refused,
  type ScriptedStep,
  unauthorized,
} from '@holdfast/provider-core/certification';

/** How the model of a protocol fails, in its vendor's own words. */
export function failureOf(protocol: ModelProtocol, name: FailureName): ScriptedStep {
  return failures[name](protocol);
}

const failures: Readonly<Record<FailureName, (protocol: ModelProtocol) => ScriptedStep>> = {
  rate_limited: (protocol) =>
    rateLimited({
      retryAfterSeconds: 3_600,
      resetAt: new Date(Date.now() + 3_600_000),
      protocol,
    }),
  auth_required: unauthorized,
  overloaded: (protocol) => overloaded({ protocol }),
  context_too_long: contextTooLong,
  model_not_found: modelNotFound,
  refusal: () => refused(),
  broken_stream: () => brokenStream('This answer is never finished.'),
  history_rejected: historyRejected,
  unknown: () => ({ status: 418, errorMessage: 'Scripted: nobody has ever seen this one.' }),
  empty_answer: () => ({ text: '' }),
};
