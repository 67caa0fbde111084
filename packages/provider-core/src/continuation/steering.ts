import { holdsFor } from '../providers/ways.js';
import type { ImagePart, SteerResult } from '../spec/turn.js';
import type { OpenSession } from '../transports/session-transport.js';
import type { TurnRun } from './turn-run.js';

/** Puts a text into the turn that runs; refused while none can take one. */
export type Steer = (text: string) => Promise<SteerResult>;

const NO_IMAGES: readonly ImagePart[] = [];

/** Where `turn.steer` finds the running turn: open while a session follows one, closed otherwise. */
export class Steering {
  #steer: Steer | undefined;

  readonly steer: Steer = async (text) =>
    this.#steer ? await this.#steer(text) : refused('no turn runs that could take it');

  /** The turn can be steered until the given thing is disposed. */
  open(steer: Steer): Disposable {
    this.#steer = steer;
    return {
      [Symbol.dispose]: () => {
        if (this.#steer === steer) this.#steer = undefined;
      },
    };
  }
}

/** Steers one followed turn. `note` hears of the text before it leaves, so that it is not taken for a stranger's. */
export function steerInto(
  run: TurnRun,
  open: OpenSession,
  watched: {
    readonly isTakenIn: () => boolean;
    readonly note: (steered: { readonly text: string; readonly turnId: string }) => void;
  },
): Steer {
  return async (text) => {
    const { session, options } = run;
    if (text === '' || !text.isWellFormed()) return refused('it is empty or ill-formed');
    if (!open.steer || !holdsFor(session.capabilities.verbs.steer, session.cliVersion)) {
      return refused('this provider, transport or version takes nothing into a running turn');
    }
    if (!watched.isTakenIn()) return refused("the turn's own message is not taken in yet");
    const refusal = await session.transport.findRefusal(session.context(), text, NO_IMAGES);
    if (refusal) return refused(`${refusal.reason}: ${refusal.detail}`);
    const steerId = crypto.randomUUID();
    watched.note({ text, turnId: steerId });
    return open.steer({
      text,
      steerId,
      deadlineMs: options.limits.acceptMs,
      signal: run.interrupted,
    });
  };
}

function refused(detail: string): SteerResult {
  return { outcome: 'refused', detail: `${detail}; nothing was put in` };
}
