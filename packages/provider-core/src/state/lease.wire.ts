import * as z from 'zod';
import { snakeCaseCodec } from '../wire/snake-case-codec.js';

/** Who took a lease, as it stands in the lease's file. */
export const leaseOwnerCodec = snakeCaseCodec({
  pid: z.number().int(),
  host_id: z.string(),
  boot_id: z.string(),
  pid_namespace: z.string(),
  start_time: z.string(),
  since: z.string(),
});
