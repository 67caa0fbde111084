/** Events that a fault keeps from being told, by their types. */
const swallowed: Readonly<Record<string, RegExp>> = {
  swallows_the_loss: /"type":"lost_tmux"/,
  swallows_notices: /"type":"notice"/,
  swallows_phases: /"type":"compaction_(started|finished)"/,
};

type Revive = (key: string, value: unknown) => unknown;

/** What a fault makes of a report, value by value. */
const revivers: Readonly<Record<string, Revive>> = {
  drops_unknown_keys: (key, value) => (key === 'a_newer_field' ? undefined : value),
  reports_another_id: (key, value) =>
    key === 'native_session_id' && typeof value === 'string'
      ? value.replace(/^./, value.startsWith('0') ? '1' : '0')
      : value,
  forgets_why: (_key, value) => (value === 'expired' ? 'missing' : value),
  renames_requests: (key, value) => (key === 'requestId' ? crypto.randomUUID() : value),
  drops_costs: (key, value) => (key === 'costUsd' ? undefined : value),
  claims_steering: (key, value) =>
    key === 'outcome' ? (value === 'refused' ? 'accepted' : 'refused') : value,
};

/** A report with its planted fault, or nothing when the fault is that it is not made. */
export function plantInReport<Report extends object>(
  report: Report,
  plant: string | undefined,
): Report | undefined {
  const text = JSON.stringify(report);
  if (swallowed[plant ?? '']?.test(text)) return undefined;
  const revive = revivers[plant ?? ''];
  if (revive) return JSON.parse(text, revive);
  if (plant === 'answers_errors') return answerError(report);
  if (plant === 'counts_from_the_start') return countFromTheStart(report);
  return report;
}

/** An error that is taken for what the model said. */
function answerError<Report extends object>(report: Report): Report {
  const { type, error } = report as { readonly type?: string; readonly error?: object };
  if (type !== 'error' || !error) return report;
  const { message, facts } = error as { readonly message?: string; readonly facts?: object };
  const handle = (facts as { readonly handle?: unknown } | undefined)?.handle ?? {};
  return { type: 'result', result: { answer: message, handle } } as unknown as Report;
}

function countFromTheStart<Report extends object>(report: Report): Report {
  const { result } = report as { readonly result?: { readonly sessionUsage?: unknown } };
  if (!result?.sessionUsage) return report;
  return { ...report, result: { ...result, usage: result.sessionUsage } };
}
