/** Something the provider asks of the host while a turn runs. It waits until it is answered or its deadline denies it. */
export type HostRequest = ApprovalRequest | QuestionRequest;

/** May this tool call run? A plan that wants approval is one too. */
export interface ApprovalRequest {
  readonly type: 'approval';
  /** The same when the request is delivered again after a restart of the service. */
  readonly requestId: string;
  /** The provider's own name of the tool. */
  readonly toolName: string;
  /** The tool's input as the provider tells it; JSON-safe. */
  readonly input: unknown;
  /** One line for people. */
  readonly detail: string;
}

/** A question of the model to the user, with choices. */
export interface QuestionRequest {
  readonly type: 'question';
  readonly requestId: string;
  readonly questions: readonly HostQuestion[];
  readonly detail: string;
}

/** One question with its choices. */
export interface HostQuestion {
  /** The key under which the answer is given. */
  readonly id: string;
  readonly question: string;
  readonly choices: readonly {
    readonly label: string;
    readonly description?: string | undefined;
  }[];
  readonly allowsSeveral: boolean;
}

/** The host's answer. `deny` answers a question too: the model is told that nobody answered. */
export type HostDecision =
  | { readonly decision: 'allow'; readonly updatedInput?: unknown }
  | { readonly decision: 'deny'; readonly message?: string | undefined }
  /** By question id, the labels chosen or a text of one's own. */
  | { readonly decision: 'answer'; readonly answers: Readonly<Record<string, readonly string[]>> };

/** Who settled a request: the host's handler, a person in the pane, the deadline, or the policy without a handler. */
export type DecidedBy = 'host' | 'person' | 'deadline' | 'policy' | 'interrupt';

/** Answers one request. The signal aborts when it was settled otherwise (by a person, the deadline, an interrupt). */
export type ApprovalHandler = (
  request: HostRequest,
  context: { readonly signal: AbortSignal },
) => HostDecision | Promise<HostDecision>;
