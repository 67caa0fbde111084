import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type HandleJson, scripted } from '@holdfast/provider-core/certification';
import type { CliUnderTest } from '../harness/cli-under-test.js';
import { getProviderFixture } from '../harness/providers/index.js';
import type { CodingEnd } from '../threads/coding-command.js';
import { CodingCallError, type FinishedJob } from '../threads/coding-process.js';
import { type Conversation, composeInput } from '../threads/compose-input.js';
import { OPEN } from '../threads/script-coder.js';
import { ThreadBench } from '../threads/thread-bench.js';
import type { CrashPoint } from './crash-points.js';
import { writeFaultyWorker } from './faulty-worker.js';

/** What is looked at of a thread. */
interface SeenThread {
  readonly state: string;
  readonly checkpoint: string;
  readonly operations: readonly { readonly operationId: string; readonly phase: string }[];
}

const FIRST = 'kept.txt';
const SECOND = 'second.txt';

/** Which way the thread was brought on, for people. */
export type Recovery = 'same' | 'rollback' | 'replace' | 'adopt' | 'replay';

/**
 * Lets a first turn be committed, kills the worker of the second one at a step, and goes on as a workflow may: nothing that
 * was committed is lost, and no message is in a conversation twice.
 */
export async function crashAtStep(cli: CliUnderTest, point: CrashPoint): Promise<Recovery> {
  await using bench = await ThreadBench.create({ pair: { implement: cli, review: cli } });
  const run = new CrashRun(bench, cli, point);
  const first = await run.job(run.begin(), 'first', run.writes(FIRST));
  const conversation = { ...run.conversation, checkpoint: first.thread?.checkpoint };
  const second = run.writes(SECOND);

  bench.useWorker(await writeFaultyWorker(await bench.place.createFolder('worker'), point.step));
  const crashed = await run.job(conversation, 'crashed', second).catch(kindOf);
  bench.useWorker(undefined);
  const seen = await run.inspect();
  assert.equal(seen.state, point.state, 'the state of the thread');
  const own = seen.operations.find(({ operationId }) => operationId === run.operationId);
  if (point.phases.length === 0) assert.equal(own, undefined, 'the operation');
  else assert.ok(own && point.phases.includes(own.phase), `it is ${own?.phase}`);

  const recovery = await run.goOn(conversation, second, { crashed, phase: own?.phase });
  // What the first turn wrote, by the outcome that a lost receipt is adopted from.
  const kept = await run.ask({ call: 'adopt', operationId: 'first', reason: 'looked for' });
  assert.equal(endOf(kept).patch?.patchDigest, first.patch?.patchDigest, 'the committed patch');
  assert.deepEqual(await bench.findLeftovers(), [], 'processes that are left');
  return recovery;
}

type Decision =
  | { readonly call: 'inspect' }
  | {
      readonly call: 'adopt' | 'abandon' | 'rollback';
      readonly reason: string;
      readonly operationId?: string;
    };

class CrashRun {
  readonly operationId = 'second';
  conversation: Conversation = this.begin();
  #count = 0;

  constructor(
    readonly bench: ThreadBench,
    readonly cli: CliUnderTest,
    readonly point: CrashPoint,
  ) {}

  begin(): Conversation {
    const stageId = 'stage-A';
    this.conversation = { role: 'implement', stageId, sessionRef: randomUUID() };
    return this.conversation;
  }

  /** A task that writes one file and says what the conversation knows. */
  writes(file: string): string {
    const { shellCall } = getProviderFixture(this.cli.provider);
    const task =
      file === FIRST ? 'Remember the codeword heron. Write a file.' : 'Write another file.';
    return scripted(task, {
      tools: [shellCall(`echo ${file} > ${file}`)],
      after: [{ text: `The codeword is ${OPEN.codeword}.` }],
    });
  }

  async job(of: Conversation, name: string, text: string): Promise<CodingEnd> {
    const operationId = name === 'first' ? 'first' : this.operationId;
    const { repository } = this.bench;
    const input = composeInput({ repository, conversation: of, operationId, text });
    if (this.point.step === 'close_after_turn' && name !== 'first') closeAfterwards(input);
    this.#count += 1;
    const job: FinishedJob = await this.bench.run(`${name}-${this.#count}`, input);
    return job.end;
  }

  async inspect(): Promise<SeenThread> {
    return JSON.parse(JSON.stringify(await this.ask({ call: 'inspect' })));
  }

  async ask(decision: Decision) {
    const service = await this.bench.restartService();
    const { sessionRef } = this.conversation;
    return await service.ask({ owner: this.bench.owner, sessionRef, ...decision });
  }

  /** Goes on by what is proven, as the stage loop does. */
  async goOn(
    conversation: Conversation,
    text: string,
    {
      crashed,
      phase,
    }: { readonly crashed: CodingEnd | string; readonly phase?: string | undefined },
  ): Promise<Recovery> {
    if (phase === undefined) {
      assert.equal(crashed, 'execution_unknown');
      this.#check(await this.job(conversation, 'again', text));
      return 'same';
    }
    if (phase === 'committed') {
      // The host may have found the outcome by itself.
      const replayed = await this.job(conversation, 'again', text);
      if (typeof crashed !== 'string') assert.deepEqual(replayed, crashed);
      this.#check(replayed);
      return 'replay';
    }
    assert.equal(crashed, 'execution_unknown');
    if (phase === 'result_validated') {
      this.#check(endOf(await this.ask({ call: 'adopt', reason: 'its result was validated' })));
      return 'adopt';
    }
    const rolledBack = await this.ask({ call: 'rollback', reason: 'its worker died' }).catch(
      kindOf,
    );
    if (rolledBack === null) {
      this.#check(await this.job(conversation, 'again', text));
      return 'rollback';
    }
    assert.equal(rolledBack, 'thread_uncertain');
    await this.#replace(conversation, text);
    return 'replace';
  }

  /** A new conversation does the work again, from the base; the old reference is used up. */
  async #replace(lost: Conversation, text: string): Promise<void> {
    await this.ask({ call: 'abandon', reason: 'nothing proves its end' });
    assert.equal(await this.job(lost, 'refused', text).catch(kindOf), 'thread_abandoned');
    const fresh = { ...this.begin() };
    const end = await this.job(fresh, 'replaced', text);
    assert.ok(end.patch?.changedPaths.includes(SECOND));
    this.conversation = lost;
  }

  /** The patch has what both turns wrote, and the conversation has each message once. */
  #check(end: CodingEnd): void {
    assert.deepEqual(end.patch?.changedPaths, [FIRST, SECOND], 'the changed paths');
    assert.match(end.finalMessage ?? '', /heron/);
    const last = this.bench.requestsOf('implement').findLast(({ kind }) => kind === 'main');
    const said = JSON.stringify(last?.messages ?? []).split('Write another file.').length - 1;
    assert.equal(said, 1, 'times the message stands in the conversation');
  }
}

function closeAfterwards(input: HandleJson): void {
  const { coding } = input as { readonly coding: { readonly thread: Record<string, unknown> } };
  coding.thread['closeAfterTurn'] = true;
}

function endOf(value: unknown): CodingEnd {
  const end: CodingEnd = JSON.parse(JSON.stringify(value));
  return end;
}

function kindOf(error: unknown): string {
  if (error instanceof CodingCallError) return error.kind;
  throw error;
}
