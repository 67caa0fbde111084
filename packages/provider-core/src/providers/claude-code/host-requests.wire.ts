import * as z from 'zod';

const permissionPayload = z.looseObject({
  tool_name: z.string(),
  tool_input: z.looseObject({}).optional(),
  agent_id: z.string().optional(),
});

const questionInput = z.looseObject({
  questions: z.array(
    z.looseObject({
      question: z.string(),
      multiSelect: z.boolean().optional(),
      options: z
        .array(z.looseObject({ label: z.string(), description: z.string().optional() }))
        .optional(),
    }),
  ),
});

/** What the CLI tells of a permission it asks for. */
export type PermissionPayload = z.output<typeof permissionPayload>;

/** Reads the payload of a PermissionRequest hook; absent when it is none. */
export function readPermissionPayload(value: unknown): PermissionPayload | undefined {
  return permissionPayload.safeParse(value).data;
}

/** Reads the input of the tool by which the model asks the user. */
export function readQuestionInput(value: unknown): z.output<typeof questionInput> | undefined {
  return questionInput.safeParse(value).data;
}
