import * as z from 'zod';

// Only what is read is declared: a newer Codex adds fields.

const named = { threadId: z.string(), turnId: z.string().nullish() };

/** `item/commandExecution/requestApproval`. */
export const commandApprovalSchema = z.looseObject({
  ...named,
  itemId: z.string(),
  /** Set where several requests belong to one item. */
  approvalId: z.string().nullish(),
  command: z.string().nullish(),
  cwd: z.string().nullish(),
  reason: z.string().nullish(),
});

/** `item/fileChange/requestApproval`. */
export const fileApprovalSchema = z.looseObject({
  ...named,
  itemId: z.string(),
  reason: z.string().nullish(),
  grantRoot: z.string().nullish(),
});

/** The changes of a `fileChange` item. */
export const fileChangesSchema = z.array(z.looseObject({ path: z.string() }));

/** `item/permissions/requestApproval`. */
export const permissionsApprovalSchema = z.looseObject({
  ...named,
  itemId: z.string(),
  reason: z.string().nullish(),
  permissions: z.looseObject({
    network: z.unknown().optional(),
    fileSystem: z.unknown().optional(),
  }),
});

const optionSchema = z.looseObject({ label: z.string(), description: z.string().nullish() });

/** `item/tool/requestUserInput`. */
export const userInputSchema = z.looseObject({
  ...named,
  itemId: z.string(),
  questions: z.array(
    z.looseObject({
      id: z.string(),
      question: z.string(),
      options: z.array(optionSchema).nullish(),
    }),
  ),
});

const constantSchema = z.looseObject({ const: z.string(), title: z.string().optional() });

const fieldSchema = z.looseObject({
  type: z.string().optional().catch(undefined),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  enum: z.array(z.string()).optional().catch(undefined),
  oneOf: z.array(constantSchema).optional().catch(undefined),
  items: z
    .looseObject({
      enum: z.array(z.string()).optional().catch(undefined),
      anyOf: z.array(constantSchema).optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
});

/** One field of a form that an MCP server wants filled in. */
export type FormField = z.output<typeof fieldSchema>;

/** `mcpServer/elicitation/request`. */
export const elicitationSchema = z.looseObject({
  ...named,
  serverName: z.string().catch('mcp'),
  message: z.string().optional(),
  url: z.string().optional(),
  requestedSchema: z
    .looseObject({ properties: z.record(z.string(), fieldSchema).optional() })
    .optional()
    .catch(undefined),
});
