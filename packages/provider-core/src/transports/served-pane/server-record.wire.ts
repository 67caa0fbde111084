import * as z from 'zod';

/** What is known of a server, before and after it answered. Its nonce is in it before it is spawned. */
export const serverRecordSchema = z.looseObject({
  nonce: z.string(),
  socketPath: z.string(),
  cliVersion: z.string(),
  bootId: z.string(),
  pidNamespace: z.string(),
  /** The script that watches over it and leads its process group; absent while it is being spawned. */
  watchdog: z.looseObject({ pid: z.number(), startTime: z.string() }).optional(),
  /** The server itself; absent until it answered. */
  server: z.looseObject({ pid: z.number(), startTime: z.string() }).optional(),
});

/** The record of one server on disk. */
export type ServerRecord = z.output<typeof serverRecordSchema>;

/** What is known of one session of a server. */
export const sessionMarkSchema = z.looseObject({
  nativeSessionId: z.string(),
  recordPath: z.string().optional(),
  permissions: z.enum(['read_only', 'ask', 'edit', 'full']).optional(),
  model: z.string().optional(),
  workingDir: z.string().optional(),
  /** Who is starting a session whose id is not known yet; when that process is dead, nobody wants it any more. */
  opener: z
    .looseObject({
      pid: z.number(),
      startTime: z.string(),
      bootId: z.string(),
      pidNamespace: z.string(),
      hostId: z.string(),
    })
    .optional(),
  /** The session is archived only to unload it; whoever finds this takes it out of the archive. */
  unloading: z.boolean().optional(),
});

/** The mark of one session in its server's folder. */
export type SessionMark = z.output<typeof sessionMarkSchema>;
