import * as z from 'zod';
import { snakeCaseCodec } from '../../wire/snake-case-codec.js';

const cursorCodec = snakeCaseCodec({
  path: z.string().optional(),
  file_id: z.string().optional(),
  length: z.number(),
});

const identityCodec = snakeCaseCodec({
  host_id: z.string(),
  boot_id: z.string(),
  pid_namespace: z.string(),
  pid: z.number(),
  start_time: z.string(),
});

/** The process of one turn. It is written before the process is started, and again once it has a pid. */
export const processRecordCodec = snakeCaseCodec({
  /** Random; in the environment of this process and of all it starts, as `HOLDFAST_LAUNCH`. */
  launch_id: z.string(),
  turn_id: z.string(),
  /** Where the provider's record ended before it. */
  cursor: cursorCodec,
  /** Absent while it is being started. */
  process: identityCodec.optional(),
});

/** The process of one turn, as it is kept on disk. */
export type ProcessRecord = z.output<typeof processRecordCodec>;
