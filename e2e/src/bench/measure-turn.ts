import type { CodingAgentTurn } from '@holdfast/provider-core';
import { setFaultHook } from '@holdfast/provider-core/certification';
import type { Measurement } from './alternate.js';

/** Everything the library itself tells of its steps, with the time of each. */
interface Step {
  readonly name: string;
  readonly at: number;
}

/**
 * Runs one turn of ours and gives its moments, in milliseconds from the call: `submitting`, `submitted`, `answer` (the
 * event, as an iterator sees it), `answered` (the record has it), `durable` (the result). `own` is our time before the
 * first byte and after the record's end, journal included; `syncs` and `syncMs` are what the disk was waited for.
 */
export async function measureTurn(begin: () => CodingAgentTurn): Promise<Measurement> {
  const steps: Step[] = [];
  setFaultHook((name) => steps.push({ name, at: performance.now() }));
  try {
    const start = performance.now();
    const turn = begin();
    let answer = Number.NaN;
    const events = (async () => {
      for await (const event of turn) {
        if (event.type === 'answer' && Number.isNaN(answer)) answer = performance.now() - start;
      }
    })();
    const { recovered } = await turn;
    const durable = performance.now() - start;
    await events;
    const at = (name: string) => {
      const step = steps.findLast((candidate) => candidate.name === name);
      return step ? step.at - start : Number.NaN;
    };
    return {
      submitting: at('submitting'),
      submitted: at('submitted'),
      answer,
      answered: at('answered'),
      durable,
      own: at('submitting') + (durable - at('answered')),
      before: at('submitting'),
      after: durable - at('answered'),
      recovered: Number(recovered),
      ...countSyncs(steps),
    };
  } finally {
    setFaultHook(undefined);
  }
}

/** Each name stands right after its step, so the time since the name before it is the step's. */
function countSyncs(steps: readonly Step[]): { readonly syncs: number; readonly syncMs: number } {
  let syncs = 0;
  let syncMs = 0;
  for (const [index, { name, at }] of steps.entries()) {
    if (!name.endsWith('synced')) continue;
    syncs += 1;
    syncMs += at - (steps[index - 1]?.at ?? at);
  }
  return { syncs, syncMs };
}
