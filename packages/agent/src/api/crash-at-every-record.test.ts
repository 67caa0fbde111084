import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentSessionHandle } from '../agent-session-handle.js';
import {
  ANSWER,
  createWorld,
  findFlaw,
  MESSAGE,
  readCalls,
  recordWholeTurn,
  type Script,
  TOOLS,
  type ToolName,
  TURN,
} from './__fixtures__/crash-world.js';
import { placeTranscript } from './__fixtures__/cut-off.js';

interface Crash {
  readonly script: Script;
  readonly permissions: 'full' | 'ask';
  readonly whole: { readonly handle: AgentSessionHandle; readonly lines: readonly string[] };
  /** How many lines the dead process finished. */
  readonly kept: number;
  /** Half of its next line stands there too. */
  readonly isTorn: boolean;
  readonly onInterrupted: 'fail' | 'resume';
}

/** A new process takes up what was left: the outcome, and all that it did, is what the contract says. */
async function takeUp(crash: Crash): Promise<void> {
  const { script, permissions, whole, kept, isTorn, onInterrupted } = crash;
  await using world = await createWorld(script, permissions);
  const lines = whole.lines.slice(0, kept);
  const torn = isTorn ? (whole.lines[kept] ?? '').slice(0, 20) : '';
  const content = lines.map((line) => `${line}\n`).join('') + torn;
  const stateDir = await placeTranscript(world.stateDir, whole.handle.sessionId, content);
  const { finished, open } = readCalls(lines);
  const agent = world.createAgent({ stateDir });
  const retry = (how: 'fail' | 'resume') => {
    const options = { turnId: TURN, onInterrupted: how };
    return kept === 0
      ? agent.askWithHistory([{ role: 'user', content: MESSAGE }], options)
      : agent.continueAgentSession(whole.handle, MESSAGE, options);
  };
  if (open.length > 0 && onInterrupted === 'fail') {
    const expected = { kind: 'turn_interrupted', accepted: true, inHistory: true, isFinal: false };
    await expect(retry('fail')).rejects.toMatchObject(expected);
    await expect(retry('fail')).rejects.toMatchObject(expected);
    expect([world.toolBox.called, world.port.requests]).toEqual([[], []]);
  }
  const result = await retry('resume');
  expect(result.answer).toBe(ANSWER);
  expect(world.port.requests.map(findFlaw).filter(Boolean)).toEqual([]);

  const again = open.filter((id) => isRepeatable(script, id));
  const made = world.toolBox.called.map(({ input }) => (input as { callId: string }).callId);
  const due = allCalls(script).filter((id) => !finished.includes(id) && !open.includes(id));
  expect(made).toEqual([...again, ...due]);
  const requests = world.port.requests.length;
  expect(await retry('fail')).toEqual(result);
  expect(world.port.requests).toHaveLength(requests);
}

const allCalls = (script: Script) =>
  script.flatMap((calls, step) => calls.map((_tool, index) => `${step}-${index}`));

function isRepeatable(script: Script, id: string): boolean {
  const [step, index] = id.split('-').map(Number);
  const tool = script[step ?? 0]?.[index ?? 0];
  return tool === 'look' || tool === 'put';
}

const SCRIPT: Script = [['write', 'look'], ['put'], ['write']];

describe('a process that died', () => {
  for (const permissions of ['full', 'ask'] as const) {
    it(`after any line, or within one, is taken up by the next (${permissions})`, async () => {
      const whole = await recordWholeTurn(SCRIPT, permissions);
      expect(whole.lines.length).toBe(permissions === 'full' ? 19 : 27);
      for (let kept = 0; kept <= whole.lines.length; kept += 1) {
        for (const onInterrupted of ['fail', 'resume'] as const) {
          const isTorn = (kept + (onInterrupted === 'fail' ? 0 : 1)) % 2 === 0;
          const crash = { script: SCRIPT, permissions, whole, kept, isTorn, onInterrupted };
          await takeUp(crash).catch((error: unknown) => {
            throw new Error(`after ${kept} lines, ${onInterrupted}, torn ${isTorn}`, {
              cause: error,
            });
          });
        }
      }
    });
  }

  it('within any turn of any script is taken up by the next', async () => {
    const tool = fc.constantFrom(...(Object.keys(TOOLS) as ToolName[]));
    const script = fc.array(fc.array(tool, { minLength: 1, maxLength: 3 }), { maxLength: 3 });
    const crash = fc.record({
      script,
      permissions: fc.constantFrom('full' as const, 'ask' as const),
      cut: fc.double({ min: 0, max: 1, noNaN: true }),
      isTorn: fc.boolean(),
      onInterrupted: fc.constantFrom('fail' as const, 'resume' as const),
    });
    await fc.assert(
      fc.asyncProperty(crash, async ({ cut, ...rest }) => {
        const whole = await recordWholeTurn(rest.script, rest.permissions);
        await takeUp({ ...rest, whole, kept: Math.round(cut * whole.lines.length) });
      }),
      { numRuns: 40 },
    );
  });

  it('with an unknown call tells the model so when it is resumed', async () => {
    const whole = await recordWholeTurn([['write']], 'full');
    const kept = whole.lines.findIndex((line) => line.includes('tool_call_started')) + 1;
    await using world = await createWorld([['write']], 'full');
    const content = whole.lines
      .slice(0, kept)
      .map((line) => `${line}\n`)
      .join('');
    const stateDir = await placeTranscript(world.stateDir, whole.handle.sessionId, content);
    const agent = world.createAgent({ stateDir });
    const options = { turnId: TURN, onInterrupted: 'resume' } as const;
    await agent.continueAgentSession(whole.handle, MESSAGE, options);
    expect(world.port.conversations().at(-1)?.at(-1)).toMatch(/^tool!: .*may have taken effect/);
    expect(world.toolBox.called).toEqual([]);
  });

  it('in a call leaves a session in which another message may be sent', async () => {
    const whole = await recordWholeTurn([['write']], 'full');
    const kept = whole.lines.findIndex((line) => line.includes('tool_call_started')) + 1;
    await using world = await createWorld([], 'full');
    const content = whole.lines
      .slice(0, kept)
      .map((line) => `${line}\n`)
      .join('');
    const stateDir = await placeTranscript(world.stateDir, whole.handle.sessionId, content);
    const agent = world.createAgent({ stateDir });
    expect((await agent.continueAgentSession(whole.handle, 'and now?')).answer).toBe(ANSWER);
    expect(world.port.requests.map(findFlaw)).toEqual([undefined]);
    expect(world.toolBox.called).toEqual([]);
  });
});
