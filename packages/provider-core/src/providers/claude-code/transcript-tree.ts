import type { TranscriptRow } from './record.wire.js';

/** A message of the conversation: the root of the rows that answer it. */
export interface MessageNode {
  readonly text: string;
  readonly promptId: string | undefined;
  readonly parent: string | undefined;
  /** Nobody asked for it: background work of the CLI reported back. */
  readonly isBackground: boolean;
  /** Told how it ended: later ends of the same turn say nothing new. */
  isOver: boolean;
  /** Ended by an answer that more of the same turn may follow. */
  isAnswered: boolean;
}

interface TreeNode {
  readonly row: TranscriptRow;
  readonly parent: string | undefined;
  readonly message: MessageNode | undefined;
  owner: MessageNode | undefined;
}

/**
 * The rows by their parents. Rows do not stand in the order of the conversation: in a new file an answer has been seen
 * before the message it answers.
 */
export class TranscriptTree {
  readonly #nodes = new Map<string, TreeNode>();
  readonly #compactions: TranscriptRow[] = [];
  #latest: MessageNode | undefined;

  /** The message that was added last. */
  get latest(): MessageNode | undefined {
    return this.#latest;
  }

  /** Adds a row that is no message. */
  add(row: TranscriptRow): void {
    this.#insert(row, undefined);
    if (row.subtype === 'compact_boundary') this.#compactions.push(row);
  }

  /** Adds a message. With `sameAs` it is another's second row: the CLI took it up again after a restart. */
  addMessage(
    row: TranscriptRow,
    { text, isBackground }: Pick<MessageNode, 'text' | 'isBackground'>,
    sameAs?: MessageNode,
  ): MessageNode {
    const { promptId } = row;
    const parent = parentOf(row);
    const isNew = { isOver: false, isAnswered: false };
    const message = sameAs ?? { text, promptId, parent, isBackground, ...isNew };
    this.#insert(row, message);
    this.#latest = message;
    return message;
  }

  /** The message whose branch the row stands on; nothing while a row between them is missing. */
  findOwner(row: TranscriptRow): MessageNode | undefined {
    const passed: TreeNode[] = [];
    let node = this.#nodeOf(row);
    while (node && !node.owner && !node.message) {
      passed.push(node);
      node = node.parent === undefined ? undefined : this.#nodes.get(node.parent);
    }
    const owner = node ? (node.message ?? node.owner) : this.#findAcrossCompaction(passed);
    for (const each of passed) each.owner = owner;
    return owner;
  }

  /** Whether a message's row hangs below another message; a missing row between them counts as no. */
  isBelow(row: TranscriptRow, message: MessageNode): boolean {
    let uuid = parentOf(row);
    while (uuid !== undefined) {
      const node = this.#nodes.get(uuid);
      if (node?.message === message) return true;
      if (node?.owner === message) return true;
      uuid = node?.parent;
    }
    return false;
  }

  /** The rows from the message to this one, in the order of the conversation. */
  listBranch(row: TranscriptRow): readonly TranscriptRow[] {
    const rows: TranscriptRow[] = [];
    let node = this.#nodeOf(row);
    while (node && !node.message) {
      rows.unshift(node.row);
      node = node.parent === undefined ? undefined : this.#nodes.get(node.parent);
    }
    return rows;
  }

  /**
   * The rows of the turn that a closing row ends; nothing while its answer is to come. On 2.1.197 the closing row has been
   * seen to hang on what a compaction hangs on, and to stand before the answer, which is below the compaction.
   */
  listEndedBranch(
    row: TranscriptRow,
    isAnswer: (row: TranscriptRow) => boolean,
  ): readonly TranscriptRow[] | undefined {
    const branch = this.listBranch(row);
    const owner = this.findOwner(row);
    const compaction = this.#compactions.findLast((each) => this.findOwner(each) === owner);
    if (!compaction || branch.includes(compaction)) return branch;
    const fork = branch.findIndex(({ uuid }) => uuid === parentOf(compaction));
    if (branch.slice(fork + 1).some(isAnswer)) return branch;
    const answers = [...this.#nodes.values()].filter((node) => isAnswer(node.row));
    const branches = answers.map((node) => this.listBranch(node.row));
    return branches.findLast((rows) => rows.includes(compaction));
  }

  /** A compaction may hang on a row that was dropped; what follows it goes on with the message under way. */
  #findAcrossCompaction(passed: readonly TreeNode[]): MessageNode | undefined {
    const isCompacted = passed.some(({ row }) => row.subtype === 'compact_boundary');
    return isCompacted ? this.#latest : undefined;
  }

  #insert(row: TranscriptRow, message: MessageNode | undefined): void {
    if (row.uuid === undefined) return;
    this.#nodes.set(row.uuid, { row, parent: parentOf(row), message, owner: undefined });
  }

  #nodeOf(row: TranscriptRow): TreeNode | undefined {
    return row.uuid === undefined ? undefined : this.#nodes.get(row.uuid);
  }
}

/** A compaction cuts the chain; the logical parent goes on. */
function parentOf(row: TranscriptRow): string | undefined {
  return row.parentUuid ?? row.logicalParentUuid ?? undefined;
}
