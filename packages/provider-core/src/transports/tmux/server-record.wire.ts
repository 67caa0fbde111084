import * as z from 'zod';
import { snakeCaseCodec } from '../../wire/snake-case-codec.js';

/** Which process serves a socket, as it stands beside the socket. */
export const serverRecordCodec = snakeCaseCodec({
  pid: z.number().int().positive(),
  host_id: z.string(),
  boot_id: z.string(),
  pid_namespace: z.string(),
  start_time: z.string(),
});
