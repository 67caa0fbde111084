/** One terminal that showed an execution. An observation: it completes, retries and skips nothing. */
export interface Terminal {
  /** Opaque. */
  readonly terminalId: string;
  readonly label: string;
  /** `current` is the newest one; whatever it replaced is `previous`. */
  readonly state: 'current' | 'previous';
  readonly openedAt: string;
  readonly archivedAt?: string | undefined;
}

/** The terminals of one logical execution, oldest first, however often its pane was replaced. */
export interface TerminalGroup {
  /** The chat the terminals belong to. */
  readonly ownerId: string;
  readonly terminals: readonly Terminal[];
}

interface OpenedTerminal {
  readonly terminalId: string;
  readonly label: string;
  readonly at: string;
}

/** Takes one more opened terminal into the group; one that is current already changes nothing. Pure. */
export function openTerminal(
  group: TerminalGroup,
  { terminalId, label, at }: OpenedTerminal,
): TerminalGroup {
  const isCurrent = group.terminals.some(
    (one) => one.terminalId === terminalId && one.state === 'current',
  );
  if (isCurrent) return group;
  const others = archiveTerminals(group, at).terminals.filter(
    (one) => one.terminalId !== terminalId,
  );
  return {
    ...group,
    terminals: [...others, { terminalId, label, state: 'current', openedAt: at }],
  };
}

/** Makes every terminal a previous one: its execution was closed, or a newer one replaces it. Pure. */
export function archiveTerminals(group: TerminalGroup, at: string): TerminalGroup {
  const terminals = group.terminals.map(
    (one): Terminal =>
      one.state === 'current' ? { ...one, state: 'previous', archivedAt: at } : one,
  );
  return { ...group, terminals };
}
