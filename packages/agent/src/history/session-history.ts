/** One message a session is known to hold, or may hold. */
export interface HeldMessage {
  readonly role: 'user' | 'assistant';
  readonly digest: string;
  /** The turn that brought it; absent for what was there before we kept a history. */
  readonly turnId?: string | undefined;
  /**
   * Of a user message: `open` while the outcome of its turn is not known here, `accepted` when the
   * turn failed after the provider took the message in, `settled` otherwise.
   */
  readonly state: 'open' | 'accepted' | 'settled';
  /** Went in with the earlier conversation as quoted text before it. */
  readonly seeded?: boolean | undefined;
}

/** What the history file's lines say, one a line. */
export type HistoryLine =
  | {
      readonly type: 'baseline';
      readonly messages: readonly {
        readonly role: 'user' | 'assistant';
        readonly digest: string;
      }[];
    }
  | {
      readonly type: 'sent';
      readonly turnId: string;
      readonly digest: string;
      readonly seeded?: boolean | undefined;
    }
  | { readonly type: 'answered'; readonly turnId: string; readonly digest: string }
  | { readonly type: 'accepted'; readonly turnId: string }
  | { readonly type: 'withdrawn'; readonly turnId: string };

/** Folds lines, in order, into what the session holds. Every line may stand twice. Pure. */
export function foldHistory(lines: readonly HistoryLine[]): readonly HeldMessage[] {
  return lines.reduce(applyLine, []);
}

function applyLine(held: readonly HeldMessage[], line: HistoryLine): readonly HeldMessage[] {
  switch (line.type) {
    case 'baseline':
      // A second baseline comes from a crash between two writers; the first one stands.
      return held.length > 0 ? held : line.messages.map((one) => ({ ...one, state: 'settled' }));
    case 'sent':
      return held.some((one) => one.turnId === line.turnId) ? held : [...held, sentMessage(line)];
    case 'answered':
      return addAnswer(held, line);
    case 'accepted':
      return setState(held, line.turnId, 'accepted');
    case 'withdrawn':
      return held.filter((one) => one.turnId !== line.turnId || one.state === 'settled');
  }
}

function sentMessage({
  turnId,
  digest,
  seeded,
}: Extract<HistoryLine, { readonly type: 'sent' }>): HeldMessage {
  return { role: 'user', digest, turnId, state: 'open', ...(seeded ? { seeded } : {}) };
}

function addAnswer(
  held: readonly HeldMessage[],
  { turnId, digest }: { readonly turnId: string; readonly digest: string },
): readonly HeldMessage[] {
  const without = held.filter((one) => one.turnId !== turnId || one.role === 'user');
  const settled = setState(without, turnId, 'settled');
  const at = settled.findIndex((one) => one.turnId === turnId);
  if (at < 0) return held;
  return settled.toSpliced(at + 1, 0, { role: 'assistant', digest, turnId, state: 'settled' });
}

function setState(
  held: readonly HeldMessage[],
  turnId: string,
  state: HeldMessage['state'],
): readonly HeldMessage[] {
  return held.map((one) =>
    one.turnId === turnId && one.role === 'user' ? { ...one, state } : one,
  );
}
