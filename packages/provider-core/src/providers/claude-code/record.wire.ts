import * as z from 'zod';

const contentBlock = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  id: z.string().optional(),
  name: z.string().optional(),
  tool_use_id: z.string().optional(),
});

const usage = z.looseObject({
  input_tokens: z.number().optional(),
  output_tokens: z.number().optional(),
  cache_read_input_tokens: z.number().optional(),
  cache_creation_input_tokens: z.number().optional(),
});

/** What a message holds, in the transcript and in the stream alike. */
export const content = z.union([z.string(), z.array(contentBlock)]);

const message = z.looseObject({
  id: z.string().optional(),
  model: z.string().optional(),
  content: content.optional(),
  stop_reason: z.string().nullish(),
  usage: usage.optional(),
});

const transcriptRow = z.looseObject({
  type: z.string(),
  subtype: z.string().optional(),
  uuid: z.string().optional(),
  parentUuid: z.string().nullish(),
  logicalParentUuid: z.string().nullish(),
  isSidechain: z.boolean().optional(),
  isMeta: z.boolean().optional(),
  isCompactSummary: z.boolean().optional(),
  promptId: z.string().optional(),
  /** `typed`, `queued` or `sdk` for what somebody said; `system`, or absent, for what the CLI wrote itself. */
  promptSource: z.string().optional(),
  origin: z.looseObject({ kind: z.string().optional() }).optional(),
  message: message.optional(),
  content: z.unknown().optional(),
  attachment: z
    .looseObject({
      type: z.string(),
      prompt: content.optional().catch(undefined),
      source_uuid: z.string().optional().catch(undefined),
      /** Of `structured_output`: the answer, in the form that was asked for. */
      data: z.unknown().optional(),
    })
    .optional(),
  isApiErrorMessage: z.boolean().optional(),
  error: z.unknown().optional(),
  errorDetails: z.unknown().optional(),
  apiErrorStatus: z.number().nullish(),
});

/** What a message holds: text, or blocks. */
export type RowContent = z.output<typeof content>;

/** One line of the CLI's transcript, as far as it is used. */
export type TranscriptRow = z.output<typeof transcriptRow>;

/** The fields of a transcript line that are used; absent when it is none, or of a kind that says nothing here. */
export function readTranscriptRow(value: unknown): TranscriptRow | undefined {
  const isRow = typeof value === 'object' && value !== null && 'type' in value;
  if (!isRow || !USED_TYPES.has(String(value.type))) return undefined;
  return transcriptRow.safeParse(value).data;
}

const USED_TYPES = new Set(['user', 'assistant', 'system', 'attachment', 'progress']);
