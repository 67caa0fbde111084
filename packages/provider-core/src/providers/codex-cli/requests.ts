import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type * as z from 'zod';
import type { HostDecision, HostQuestion } from '../../spec/host-request.js';
import type { ServedAsk, ServedRequest } from '../../spec/served-pane.js';
import {
  commandApprovalSchema,
  elicitationSchema,
  type FormField,
  fileApprovalSchema,
  fileChangesSchema,
  permissionsApprovalSchema,
  userInputSchema,
} from './requests.wire.js';

/** Reads what the app-server asks of its clients. What no client of ours offers is refused as unknown. */
export function readRequest(asked: ServedAsk): ServedRequest | undefined {
  return READERS.get(asked.method)?.(asked);
}

type RequestReader = (asked: ServedAsk) => ServedRequest | undefined;

function reading<Schema extends z.ZodType>(
  schema: Schema,
  read: (params: z.output<Schema>, asked: ServedAsk) => ServedRequest,
): RequestReader {
  return (asked) => {
    const parsed = schema.safeParse(asked.params);
    return parsed.success ? read(parsed.data, asked) : undefined;
  };
}

const READERS: ReadonlyMap<string, RequestReader> = new Map([
  ['item/commandExecution/requestApproval', reading(commandApprovalSchema, readCommand)],
  ['item/fileChange/requestApproval', reading(fileApprovalSchema, readFileChange)],
  ['item/permissions/requestApproval', reading(permissionsApprovalSchema, readPermissions)],
  ['item/tool/requestUserInput', reading(userInputSchema, readUserInput)],
  ['mcpServer/elicitation/request', reading(elicitationSchema, readElicitation)],
]);

interface ApprovalParts {
  readonly requestId: string;
  readonly toolName: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly detail: string;
  /** The answers that let it happen and that forbid it. */
  readonly allowed: unknown;
  readonly denied: unknown;
}

function approval(
  { threadId, turnId }: { readonly threadId: string; readonly turnId?: string | null | undefined },
  { requestId, toolName, input, detail, allowed, denied }: ApprovalParts,
): ServedRequest {
  return {
    nativeSessionId: threadId,
    nativeTurnId: turnId ?? undefined,
    request: { type: 'approval', requestId, toolName, input, detail },
    answer: (decision) => (isGranted(decision, input) ? allowed : denied),
  };
}

/** Codex runs what it asked for and nothing else: an input that was changed is not granted. */
function isGranted(decision: HostDecision, input: unknown): boolean {
  if (decision.decision !== 'allow') return false;
  const { updatedInput } = decision;
  return updatedInput === undefined || isDeepStrictEqual(updatedInput, input);
}

function readCommand(params: z.output<typeof commandApprovalSchema>): ServedRequest {
  const { itemId, approvalId, command, cwd, reason } = params;
  return approval(params, {
    requestId: approvalId ? `${itemId}:${approvalId}` : itemId,
    toolName: 'exec_command',
    input: known({ command, cwd, reason }),
    detail: command ?? reason ?? 'a command',
    allowed: { decision: 'accept' },
    denied: { decision: 'decline' },
  });
}

function readFileChange(
  params: z.output<typeof fileApprovalSchema>,
  { toolInput }: ServedAsk,
): ServedRequest {
  const { itemId, reason, grantRoot } = params;
  const changes = fileChangesSchema.safeParse(toolInput(itemId)).data;
  const paths = changes?.map(({ path }) => path).join(', ');
  return approval(params, {
    requestId: itemId,
    toolName: 'apply_patch',
    input: known({ changes, reason, grantRoot }),
    detail: reason ?? paths ?? 'a change of files',
    allowed: { decision: 'accept' },
    denied: { decision: 'decline' },
  });
}

function readPermissions(params: z.output<typeof permissionsApprovalSchema>): ServedRequest {
  const { itemId, reason, permissions } = params;
  const { network, fileSystem } = permissions;
  return approval(params, {
    requestId: `${itemId}:permissions`,
    toolName: 'request_permissions',
    input: known({ reason, network, fileSystem }),
    detail: reason ?? 'more permissions',
    allowed: { permissions: known({ network, fileSystem }), scope: 'turn' },
    denied: { permissions: {}, scope: 'turn' },
  });
}

function readUserInput(params: z.output<typeof userInputSchema>): ServedRequest {
  const questions = params.questions.map(({ id, question, options }) => ({
    id,
    question,
    choices: (options ?? []).map(({ label, description }) => ({
      label,
      ...(description ? { description } : {}),
    })),
    allowsSeveral: false,
  }));
  return {
    nativeSessionId: params.threadId,
    nativeTurnId: params.turnId ?? undefined,
    request: {
      type: 'question',
      requestId: params.itemId,
      questions,
      detail: questions[0]?.question ?? 'a question',
    },
    answer: (decision) => ({ answers: wrapAnswers(decision) }),
  };
}

function wrapAnswers(decision: HostDecision): Readonly<Record<string, unknown>> {
  const answers = decision.decision === 'answer' ? Object.entries(decision.answers) : [];
  return Object.fromEntries(answers.map(([id, given]) => [id, { answers: given }]));
}

/** An MCP server asks, maybe about a call of its own tool. A form without fields only wants a yes. */
function readElicitation(
  params: z.output<typeof elicitationSchema>,
  asked: ServedAsk,
): ServedRequest {
  const { threadId, turnId, serverName, message, url, requestedSchema } = params;
  const detail = message ?? url ?? `${serverName} asks`;
  const fields = Object.entries(requestedSchema?.properties ?? {});
  const requestId = `elicitation-${digest(asked)}`;
  const denied = { action: 'decline', content: null, _meta: null };
  if (fields.length === 0) {
    const allowed = { action: 'accept', content: url === undefined ? {} : null, _meta: null };
    const input = known({ message, url });
    return approval(params, { requestId, toolName: serverName, input, detail, allowed, denied });
  }
  const questions = fields.map(([id, field]) => readField(id, field));
  return {
    nativeSessionId: threadId,
    nativeTurnId: turnId ?? undefined,
    request: { type: 'question', requestId, questions, detail },
    answer: (decision) =>
      decision.decision === 'answer'
        ? { action: 'accept', content: fillForm(fields, decision.answers), _meta: null }
        : denied,
  };
}

function readField(id: string, field: FormField): HostQuestion {
  const several = field.items;
  const named = field.oneOf ?? several?.anyOf;
  const labels = field.type === 'boolean' ? YES_NO : (field.enum ?? several?.enum);
  return {
    id,
    question: field.description ?? field.title ?? id,
    choices: named
      ? named.map(({ const: label, title }) => ({
          label,
          ...(title ? { description: title } : {}),
        }))
      : (labels ?? []).map((label) => ({ label })),
    allowsSeveral: field.type === 'array',
  };
}

const YES_NO = ['yes', 'no'];

function fillForm(
  fields: readonly (readonly [string, FormField])[],
  answers: Readonly<Record<string, readonly string[]>>,
): Readonly<Record<string, unknown>> {
  const filled = new Map<string, unknown>();
  for (const [id, { type }] of fields) {
    const given = answers[id];
    const [first] = given ?? [];
    if (first !== undefined) filled.set(id, type === 'array' ? given : readValue(type, first));
  }
  return Object.fromEntries(filled);
}

function readValue(type: string | undefined, given: string): unknown {
  if (type === 'boolean') return given === 'yes' || given === 'true';
  return type === 'number' || type === 'integer' ? Number(given) : given;
}

/** It has no id of its own; the server's number and what it says are the same on every connection. */
function digest({ id, params }: ServedAsk): string {
  return createHash('sha256')
    .update(JSON.stringify([id, params]))
    .digest('hex')
    .slice(0, 16);
}

function known(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  );
}
