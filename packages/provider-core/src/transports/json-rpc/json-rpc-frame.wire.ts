import * as z from 'zod';

const frameSchema = z.looseObject({
  id: z.union([z.number(), z.string()]).nullish(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z
    .looseObject({ code: z.number(), message: z.string(), data: z.unknown().optional() })
    .optional(),
});

/** One JSON-RPC message of any kind. */
export type JsonRpcFrame = z.output<typeof frameSchema>;

/** Reads a frame; absent when the text is none. */
export function readJsonRpcFrame(text: string): JsonRpcFrame | undefined {
  try {
    return frameSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
