import { describe, expect, it } from 'vitest';
import { createControlReader, type TmuxReply } from './control-protocol.js';

function readAll(chunks: readonly string[]) {
  const blocks: TmuxReply[] = [];
  const started: TmuxReply[] = [];
  const notifications: string[] = [];
  const read = createControlReader({
    onStarted: (block) => started.push(block),
    onBlock: (block) => blocks.push(block),
    onNotification: (line) => notifications.push(line),
  });
  for (const chunk of chunks) read(chunk);
  return { started, blocks, notifications };
}

const STREAM = [
  '%begin 10 1 0',
  'attached',
  '%end 10 1 0',
  '%session-changed $0 keeper',
  '%begin 11 2 1',
  '漢字',
  '%end 11 3 1',
  '%begin 11 3 1',
  '',
  '%end 11 2 1',
  '%sessions-changed',
  '%begin 12 4 1',
  "can't find pane: %9",
  '%error 12 4 1',
  '',
].join('\n');

const EXPECTED = {
  started: [{ lines: ['attached'] }],
  blocks: [
    // A pane may show what looks like the protocol.
    { lines: ['漢字', '%end 11 3 1', '%begin 11 3 1', ''] },
    { lines: [], error: "can't find pane: %9" },
  ],
  notifications: ['%session-changed $0 keeper', '%sessions-changed'],
};

describe('createControlReader', () => {
  it('pairs each block with its own end, whatever stands inside', () => {
    expect(readAll([STREAM])).toEqual(EXPECTED);
  });

  it('reads the same however the bytes arrive', () => {
    expect(readAll([...STREAM])).toEqual(EXPECTED);
  });
});
