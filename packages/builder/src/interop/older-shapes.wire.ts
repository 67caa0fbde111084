import { snakeCaseCodec } from '@holdfast/agent';
import * as z from 'zod';

/** A field of another kind than expected must not cost the others: they are shown to people, and decide nothing. */
const text = z.string().optional().catch(undefined);
const count = z.number().optional().catch(undefined);
const flag = z.boolean().optional().catch(undefined);
const list = z.array(z.unknown()).readonly().optional().catch(undefined);
const any = z.unknown().optional();

const terminal = snakeCaseCodec({
  ...{ terminal_id: text, session_id: text, owner_id: text, execution_id: text },
  ...{ execution_kind: text, label: text, scope: text },
  ...{ workflow_path: text, workflow_name: text, workflow_label: text },
  ...{ step_id: text, step_name: text, step_type: text, step_index: count, step_total: count },
  ...{ parent_step_id: text, step_attempt: count, step_execution_mode: text },
  ...{ step_transport: text, step_triggered_by: text, agent_name: text },
  ...{ display_title: text, display_meta: any },
  ...{ content: text, content_source: text, rows: list, chunk_index: count },
  ...{ active: flag, state: text, process_state: text, snapshot_kind: text },
  ...{ close_reason: text, closes_at: text, retention_seconds: count, status: any },
  ...{ created_at: text, updated_at: text },
});

const terminalList = snakeCaseCodec({ terminals: list, total: count, runtime_states: any });

const runtimeSnapshot = snakeCaseCodec({
  ...{ session_id: text, generation: count, revision: count, phase: text, reason: text },
  ...{ raw_session_status: text, foreground_turn: any },
  ...{ child_executions: list, background_agents: list, background_live: any, terminals: list },
  ...{ terminal_busy: flag, waiting_for_user: flag, waiting_message: text },
  ...{ last_progress_at: text, started_at: text, completed_at: text, observed_at: text },
});

const childExecution = snakeCaseCodec({
  ...{ execution_id: text, kind: text, status: text, started_at: text, completed_at: text },
});

const delivery = snakeCaseCodec({
  ...{ status: text, delivery_status: text, provider: text },
  ...{ delivery_transport: text, delivery_source: text },
});

const confirmation = snakeCaseCodec({
  ...{ type: text, message_id: text, outcome: text, proof_source: text, latency_ms: count },
});

const backgroundAgent = snakeCaseCodec({
  ...{ workspace: text, session_id: text, agent_id: text, name: text, kind: text },
  ...{ parent_execution_id: text, status: text, result: text, error: text, duration_ms: count },
  ...{ started_at: text, completed_at: text, updated_at: text },
  ...{ transcript_path: text, transcript_status: text },
});

const capacityWait = snakeCaseCodec({
  ...{ step: text, position: count, quota_window: text, reopens_at: text, status: text },
});

const failure = snakeCaseCodec({
  ...{ error: text, kind: text, provider: text, reason: text, session_name: text, cause: text },
  ...{ login_command: text, detail: text, retry_at: text },
});

/** One shape of the older system: read into our spelling, and written back with every key this version does not know. */
interface OlderShape<Model> {
  /** Throws a TypeError for what is no object at all. */
  readonly decode: (value: unknown) => Model;
  readonly encode: (model: Model) => Readonly<Record<string, unknown>>;
}

function shapeOf<Model>(
  codec: z.ZodType<Model, Readonly<Record<string, unknown>>>,
): OlderShape<Model> {
  return {
    decode: (value) => {
      const parsed = codec.safeDecode(value as never);
      if (parsed.success) return parsed.data;
      throw new TypeError('What was to be read is no object of the older system.');
    },
    encode: (model) => z.encode(codec, model),
  };
}

/**
 * The shapes in which an older system tells its clients of terminals, sessions, deliveries and failures. For a service that takes
 * its place, or reads what it left; nothing in a builder is decided by them.
 */
export const olderShapes = {
  terminal: shapeOf(terminal),
  terminalList: shapeOf(terminalList),
  runtimeSnapshot: shapeOf(runtimeSnapshot),
  childExecution: shapeOf(childExecution),
  delivery: shapeOf(delivery),
  confirmation: shapeOf(confirmation),
  backgroundAgent: shapeOf(backgroundAgent),
  capacityWait: shapeOf(capacityWait),
  failure: shapeOf(failure),
} as const;
