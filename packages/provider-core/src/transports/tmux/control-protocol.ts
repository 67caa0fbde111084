/** What one command line answered: all it printed, and the first error if there was one. */
export interface TmuxReply {
  readonly lines: readonly string[];
  readonly error?: string;
}

interface Block {
  readonly closing: string;
  readonly isOurs: boolean;
  readonly lines: string[];
}

/** Receives what a control-mode connection says, in order. */
export interface ControlListener {
  /** What became of the command the client was started with. A hook's block reads the same. */
  readonly onStarted: (block: TmuxReply) => void;
  readonly onBlock: (block: TmuxReply) => void;
  readonly onNotification: (line: string) => void;
}

/**
 * Reads the control-mode protocol from decoded chunks. A block ends only at the line that repeats the numbers of its
 * begin, since a pane's own text may hold anything.
 */
export function createControlReader(listener: ControlListener): (chunk: string) => void {
  let pending = '';
  let block: Block | undefined;

  const readLine = (line: string) => {
    if (!block) {
      block = readBegin(line);
      if (!block) listener.onNotification(line);
      return;
    }
    const ending = readEnding(line, block);
    if (!ending) {
      block.lines.push(line);
      return;
    }
    const { lines, isOurs } = block;
    block = undefined;
    const reply = ending === 'error' ? { lines: [], error: lines.join('\n') } : { lines };
    if (isOurs) listener.onBlock(reply);
    else listener.onStarted(reply);
  };

  return (chunk) => {
    const parts = (pending + chunk).split('\n');
    pending = parts.pop() ?? '';
    for (const line of parts) readLine(line);
  };
}

function readBegin(line: string): Block | undefined {
  if (!line.startsWith('%begin ')) return undefined;
  const closing = line.slice('%begin '.length);
  // Flag 1 marks an answer to our own input; 0 is the attach itself or a hook.
  return { closing, isOurs: closing.endsWith(' 1'), lines: [] };
}

function readEnding(line: string, block: Block): 'end' | 'error' | undefined {
  if (line === `%end ${block.closing}`) return 'end';
  if (line === `%error ${block.closing}`) return 'error';
  return undefined;
}
