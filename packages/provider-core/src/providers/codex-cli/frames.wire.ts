import * as z from 'zod';
import { errorInfoSchema } from './failure.wire.js';

// Only what is read is declared: a newer Codex adds fields.

export const statusSchema = z.looseObject({
  type: z.string(),
  activeFlags: z.array(z.string()).optional(),
});

const textPartSchema = z.looseObject({ type: z.string(), text: z.string().optional() });

export const itemSchema = z.looseObject({
  type: z.string(),
  id: z.string(),
  text: z.string().nullish(),
  clientId: z.string().nullish(),
  content: z.array(z.unknown()).optional(),
  command: z.string().optional(),
  exitCode: z.number().nullish().catch(undefined),
  tool: z.unknown().optional(),
  server: z.string().optional(),
  /** Of a `fileChange`: what happens to which file. */
  changes: z
    .array(z.looseObject({ path: z.string() }))
    .optional()
    .catch(undefined),
});

export const textPartsSchema = z.array(textPartSchema);

const turnErrorSchema = z.looseObject({
  message: z.string().catch(''),
  codexErrorInfo: errorInfoSchema,
});

export const turnSchema = z.looseObject({
  id: z.string(),
  status: z.string(),
  items: z.array(itemSchema).catch([]),
  error: turnErrorSchema.nullish(),
});

/** Any notification of a thread. */
export const notificationSchema = z.looseObject({
  threadId: z.string().optional(),
  turnId: z.string().nullish(),
  status: statusSchema.optional().catch(undefined),
  turn: turnSchema.optional().catch(undefined),
  item: itemSchema.optional().catch(undefined),
  delta: z.string().optional().catch(undefined),
  requestId: z.union([z.number(), z.string()]).optional().catch(undefined),
});

export const initializedServerSchema = z.looseObject({
  userAgent: z.string().optional(),
  codexHome: z.string().optional(),
});

const sandboxSchema = z.looseObject({ type: z.string() });

/** The answer to `thread/start` and `thread/resume`. */
export const openedThreadSchema = z.looseObject({
  thread: z.looseObject({ id: z.string(), path: z.string().nullish(), status: statusSchema }),
  model: z.string().nullish(),
  cwd: z.string().nullish(),
  approvalPolicy: z.unknown().optional(),
  sandbox: sandboxSchema.nullish().catch(undefined),
});

export const threadReadSchema = z.looseObject({
  thread: z.looseObject({ status: statusSchema, path: z.string().nullish() }),
});

export const idListSchema = z.looseObject({ data: z.array(z.string()) });

const queuedSchema = z.looseObject({ id: z.string(), clientUserMessageId: z.string() });

export const queueAddedSchema = z.looseObject({ queuedSubmission: queuedSchema });

export const queueListSchema = z.looseObject({ data: z.array(queuedSchema) });

export const turnsListSchema = z.looseObject({ data: z.array(turnSchema) });

export const terminalsSchema = z.looseObject({
  data: z.array(z.looseObject({ processId: z.string(), itemId: z.string() })),
});

/** The answer to `config/read`, as far as it says which folders a person has decided on. */
export const configReadSchema = z.looseObject({
  config: z.looseObject({
    projects: z.record(z.string(), z.unknown()).nullish(),
    sandbox_mode: z.string().nullish().catch(undefined),
    approval_policy: z.string().nullish().catch(undefined),
  }),
});

/** What a refused call adds for programs. */
export const refusalDataSchema = z.looseObject({ type: z.string() });
