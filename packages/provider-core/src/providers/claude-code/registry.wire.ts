import * as z from 'zod';

const registryRow = z.looseObject({
  sessionId: z.string().optional(),
  status: z.string().optional(),
  waitingFor: z.string().optional(),
  procStart: z.string().optional(),
});

/** The fields of a registry file that are used; absent when it is none. */
export function readRegistryRow(value: unknown): z.output<typeof registryRow> | undefined {
  return registryRow.safeParse(value).data;
}
