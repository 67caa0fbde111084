import * as z from 'zod';
import type { McpServer, ToolPolicy } from '../spec/session-config.js';
import { snakeCaseCodec } from '../wire/snake-case-codec.js';

const envValue = z.union([z.string(), z.object({ env: z.string() })]);
const texts = z.array(z.string()).readonly();
const textRecord = z.record(z.string(), z.string()).readonly();

const endpointCodec = snakeCaseCodec({
  base_url: z.string(),
  api_key: envValue.optional(),
});

const usageCodec = snakeCaseCodec({
  input_tokens: z.number(),
  output_tokens: z.number(),
  cache_read_tokens: z.number().optional(),
  cache_write_tokens: z.number().optional(),
  cost_usd: z.number().optional(),
});

const toolPolicyShape = z.looseObject({
  permissions: z.enum(['read_only', 'ask', 'edit', 'full']),
  allow: texts.optional(),
  deny: texts.optional(),
  inherit: z.boolean().optional(),
});
const mcpServerShape = z.union([
  z.looseObject({ command: z.string(), args: texts.optional(), env: textRecord.optional() }),
  z.looseObject({ url: z.string(), headers: textRecord.optional() }),
]);

// Spelled alike on disk and in code, so they are only checked; keys of a newer version survive.
const toolPolicy = z.custom<ToolPolicy>((value) => toolPolicyShape.safeParse(value).success);
const mcpServer = z.custom<McpServer>((value) => mcpServerShape.safeParse(value).success);

const sessionConfigCodec = snakeCaseCodec({
  working_dir: z.string(),
  model: z.string().optional(),
  system_prompt: z.string().optional(),
  mcp_servers: z.record(z.string(), mcpServer).readonly().optional(),
  tool_policy: toolPolicy.optional(),
  effort: z.enum(['low', 'medium', 'high']).optional(),
  env: z.record(z.string(), envValue).readonly().optional(),
  endpoint: endpointCodec.optional(),
  cli_home: z.string().optional(),
  binary: z.string().optional(),
  trust_working_dir: z.boolean().optional(),
  process_lifetime: z.enum(['session', 'turn']).optional(),
  nudge: z.string().optional(),
  writable_roots: texts.optional(),
  launcher: texts.optional(),
  output_schema: z.record(z.string(), z.unknown()).readonly().optional(),
});

/** The launch record as it stands on disk. */
export const launchRecordCodec = snakeCaseCodec({
  schema_version: z.literal(1),
  provider: z.string().min(1),
  transport: z.enum(['tmux', 'structured', 'api']),
  transport_choice: z.enum(['auto', 'tmux', 'structured']).optional(),
  ways: z
    .array(z.enum(['tmux', 'structured', 'per_turn']))
    .readonly()
    .optional(),
  native_session_id: z.string().min(1),
  config: sessionConfigCodec,
  stable_fields: textRecord,
  cli_version: z.string(),
  cli_home: z.string(),
  nonce: z.string(),
  acknowledged: z.boolean(),
  revision: z.number().int(),
  tmux_session: z.string().optional(),
  status: z.enum(['active', 'idle', 'lost', 'closed']),
  archived: z.boolean(),
  created_at: z.string(),
  updated_at: z.string(),
  last_turn_id: z.string().optional(),
  session_usage: usageCodec.optional(),
  expected_permissions: z.enum(['read_only', 'ask', 'edit', 'full']).optional(),
});
