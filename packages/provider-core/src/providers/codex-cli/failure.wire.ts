import * as z from 'zod';
import type { CodexFailure } from './failure.js';

const statusSchema = z.looseObject({
  httpStatusCode: z.number().nullish(),
  http_status_code: z.number().nullish(),
});

/** `codexErrorInfo` (protocol) or `codex_error_info` (rollout): a name, or one name with a status. */
export const errorInfoSchema = z
  .union([z.string(), z.record(z.string(), z.unknown())])
  .nullish()
  .catch(undefined);

/** Reads either form of the error information. */
export function readErrorInfo(info: z.output<typeof errorInfoSchema>): CodexFailure['info'] {
  if (typeof info === 'string') return { name: info };
  const [entry] = Object.entries(info ?? {});
  if (!entry) return {};
  const [name, detail] = entry;
  const status = statusSchema.safeParse(detail).data;
  return { name, httpStatus: status?.httpStatusCode ?? status?.http_status_code ?? undefined };
}

const bodySchema = z.looseObject({
  error: z.looseObject({ code: z.string().nullish(), param: z.string().nullish() }),
});

/** The error object of the endpoint, where Codex passes its answer on as it came. */
export function readErrorBody(message: string): z.output<typeof bodySchema>['error'] | undefined {
  try {
    return bodySchema.safeParse(JSON.parse(message)).data?.error;
  } catch {
    return undefined;
  }
}
