import type { Lease } from '@holdfast/agent';
import type { JsonValue } from '../../persistence/store.js';
import type { CodingOutcome, CodingPatch } from '../coding-job.js';
import { CodingThreadError } from '../coding-thread-error.js';
import { mintUuidV7 } from '../contract/uuid.js';
import { type CloseOptions, describeFailure } from './close-effect.js';
import { closeRecord, closeUnproven } from './close-record.js';
import { commitRecord } from './commit-record.js';
import type { ThreadAsk } from './judge-directive.js';
import { type ThreadFiles, writeThread } from './thread-files.js';
import {
  type ThreadOperation,
  type ThreadRecord,
  type ThreadResult,
  withOperation,
} from './thread-record.js';

/** What a thread is opened with: everything was compared, and nothing was written. */
export interface OpenThreadParts {
  readonly files: ThreadFiles;
  readonly lease: Lease;
  readonly ask: ThreadAsk;
  readonly record: ThreadRecord | undefined;
}

/** A thread under lock, for one operation. The steps of a turn are told in their order, each as soon as it is known. */
export class OpenThread implements AsyncDisposable {
  readonly operationId: string;
  readonly #files: ThreadFiles;
  readonly #lease: Lease;
  readonly #ask: ThreadAsk;
  #record: ThreadRecord | undefined;

  constructor({ files, lease, ask, record }: OpenThreadParts) {
    this.#files = files;
    this.#lease = lease;
    this.#ask = ask;
    this.#record = record;
    this.operationId = ask.directive.operationId ?? mintUuidV7(files.clock);
  }

  /** The native conversation to resume or to close; absent for a new one. */
  get nativeId(): string | undefined {
    return this.#record?.nativeId;
  }

  /** The implementer's patch so far, which a rebuilt workspace begins with. */
  get patch(): CodingPatch | undefined {
    return this.#record?.patch;
  }

  /** What the adapter kept at the last operation. */
  get adapterState(): JsonValue | undefined {
    return this.#record?.adapterState;
  }

  /**
   * Right before the first native request that may begin or advance the conversation, and not earlier. The id that the turn
   * will have is kept from here on, so that the provider's record can be asked for it.
   */
  async claim(turnId?: string): Promise<void> {
    const { directive, binding, inputDigest } = this.#ask;
    if (directive.mode === 'close') throw new TypeError('A close claims nothing.');
    if (this.#operation) throw new TypeError('This operation was claimed already.');
    const { operationId } = this;
    const { sessionRef } = directive;
    const before = this.#record ?? {
      binding,
      sessionRef,
      operations: [],
      notes: [],
      updatedAt: '',
    };
    const operation = { operationId, inputDigest, phase: 'claimed', turnId } as const;
    const record = withOperation(
      { ...before, state: 'IN_FLIGHT', closeError: undefined },
      operation,
    );
    await this.#write(record, directive.mode === 'new' ? 'create' : 'replace');
  }

  /** As soon as the native conversation has an id, with what finds it again. Another id than the thread's fails the thread. */
  async noteNative(nativeId: string, adapterState?: JsonValue): Promise<void> {
    const record = this.#expect('claimed');
    if (record.nativeId !== undefined && record.nativeId !== nativeId) {
      await this.fail(`another native conversation answered: ${nativeId}`.slice(0, 300));
      throw new CodingThreadError(
        'thread_native_substituted',
        'The CLI continued another conversation than the one of this thread; use a new session.',
        { sessionRef: record.sessionRef },
      );
    }
    const known = { ...record, nativeId, adapterState: adapterState ?? record.adapterState };
    await this.#advance({ phase: 'native_started' }, known);
  }

  /** As soon as the message is handed to the native conversation. */
  async noteTurn(turnId?: string): Promise<void> {
    const known = turnId ?? this.#operation?.turnId;
    await this.#advance({ phase: 'turn_submitted', turnId: known }, this.#expect('native_started'));
  }

  /** Once the result is validated: from here on it cannot be lost. */
  async noteResult(result: ThreadResult): Promise<void> {
    await this.#advance({ phase: 'result_validated', result }, this.#expect('turn_submitted'));
  }

  /** Takes the validated result in, under a fresh checkpoint. */
  async commit(): Promise<CodingOutcome> {
    const record = this.#expect('result_validated');
    const operation = this.#getOperation();
    const { committed, outcome } = commitRecord(record, operation, this.#files.clock);
    await this.#write(committed);
    return outcome;
  }

  /** Says that the claimed turn has ended without a result, where that is proven. */
  async fail(failure: string, turnId?: string): Promise<void> {
    const operation = this.#getOperation();
    if (operation.phase === 'committed') throw new TypeError('A committed turn cannot fail.');
    const record = { ...this.#getRecord(), state: 'FAILED' } as const;
    await this.#advance({ phase: 'failed', failure, turnId: turnId ?? operation.turnId }, record);
  }

  /** Tries to end the conversation after a turn. Never costs the committed result: what is not proven stands in the receipt. */
  async closeAfterTurn(options: CloseOptions): Promise<CodingOutcome> {
    const operation = this.#getOperation();
    const { outcome } = operation;
    if (!outcome?.thread) throw new TypeError('Only a committed turn can be followed by a close.');
    const closeError = await this.#close(options).catch(describeFailure);
    const { sessionRef, checkpoint } = outcome.thread;
    const thread = {
      sessionRef,
      checkpoint,
      state: closeError === undefined ? 'CLOSED' : 'READY',
    } as const;
    return { ...outcome, thread: closeError === undefined ? thread : { ...thread, closeError } };
  }

  /** The whole of a `close` directive. One that is not proven is `thread_close_unproven`, and may be tried again. */
  async close(options: CloseOptions): Promise<CodingOutcome> {
    if (this.#ask.directive.mode !== 'close') throw new TypeError('No close was asked for.');
    const { sessionRef, checkpoint = '' } = this.#getRecord();
    const thread = { sessionRef, checkpoint, state: 'CLOSED' } as const;
    const { operationId } = this;
    const outcome: CodingOutcome = { outcome: 'closed', operationId, thread, evidence: {} };
    const { inputDigest } = this.#ask;
    const closed = { operationId, inputDigest, phase: 'committed', outcome } as const;
    const closeError = await this.#close(options, closed).catch((error: unknown) => {
      throw closeUnproven(sessionRef, describeFailure(error), error);
    });
    if (closeError !== undefined) throw closeUnproven(sessionRef, closeError);
    return outcome;
  }

  /** Lets go of the lock; what stands on the disk stays as it is. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lease.release();
  }

  #close(options: CloseOptions, operation?: ThreadOperation): Promise<string | undefined> {
    const { clock } = this.#files;
    const write = (record: ThreadRecord) => this.#write(record);
    return closeRecord(this.#getRecord(), { ...options, operation, clock, write });
  }

  get #operation(): ThreadOperation | undefined {
    return this.#record?.operations.find(({ operationId }) => operationId === this.operationId);
  }

  #getOperation(): ThreadOperation {
    const operation = this.#operation;
    if (!operation) throw new TypeError('This operation was not claimed.');
    return operation;
  }

  #getRecord(): ThreadRecord {
    if (!this.#record) throw new TypeError('This operation was not claimed.');
    return this.#record;
  }

  #expect(phase: ThreadOperation['phase']): ThreadRecord {
    const found = this.#operation?.phase;
    if (found !== phase)
      throw new TypeError(`The operation is not ${phase} but ${found ?? 'not claimed'}.`);
    return this.#getRecord();
  }

  async #advance(change: Partial<ThreadOperation>, record: ThreadRecord): Promise<void> {
    await this.#write(withOperation(record, { ...this.#getOperation(), ...change }));
  }

  async #write(record: ThreadRecord, mode: 'create' | 'replace' = 'replace'): Promise<void> {
    const isWritten = await writeThread(this.#files, record, { lease: this.#lease, mode });
    if (!isWritten) throw new CodingThreadError('thread_exists', 'The thread was begun meanwhile.');
    this.#record = record;
  }
}
