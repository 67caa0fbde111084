import type { Span, Tracer } from '@opentelemetry/api';

/** The parts of a turn that have a span of their own below the turn's, in this order. */
export type TurnStage = 'launch' | 'delivery' | 'wait' | 'settle';

/** What the turn's span is told at the end. Never a text of anybody's. */
interface TraceEnd {
  readonly provider?: string | undefined;
  readonly transport?: string | undefined;
  /** The kind of the error the turn ended with. */
  readonly failure?: string | undefined;
}

/** The spans of one turn; without OpenTelemetry's API, or an SDK behind it, nothing. */
export interface TurnTrace {
  /** Ends the stage that runs and begins this one; the same stage again goes on. */
  readonly enter: (stage: TurnStage) => void;
  readonly end: (end: TraceEnd) => void;
}

type Api = typeof import('@opentelemetry/api');

let loading: Promise<Api | undefined> | undefined;

/** The API is an optional peer: who does not trace does not install it. */
function loadApi(): Promise<Api | undefined> {
  loading ??= import('@opentelemetry/api').catch(() => undefined);
  return loading;
}

/** Begins the turn's span as a child of whatever span is active where the turn was begun. */
export async function beginTrace(turnId: string): Promise<TurnTrace> {
  const api = await loadApi();
  if (!api) return { enter: () => {}, end: () => {} };
  const tracer = api.trace.getTracer('@holdfast/provider-core');
  const turn = tracer.startSpan('holdfast.turn', { attributes: { 'holdfast.turn_id': turnId } });
  return traceTurn(api, tracer, turn);
}

function traceTurn(api: Api, tracer: Tracer, turn: Span): TurnTrace {
  const parent = api.trace.setSpan(api.context.active(), turn);
  let running: { readonly stage: TurnStage; readonly span: Span } | undefined;
  return {
    enter: (stage) => {
      if (running?.stage === stage) return;
      running?.span.end();
      running = { stage, span: tracer.startSpan(`holdfast.turn.${stage}`, {}, parent) };
    },
    end: ({ provider, transport, failure }) => {
      running?.span.end();
      running = undefined;
      if (provider !== undefined) turn.setAttribute('holdfast.provider', provider);
      if (transport !== undefined) turn.setAttribute('holdfast.transport', transport);
      if (failure !== undefined) {
        turn.setAttribute('error.type', failure);
        turn.setStatus({ code: api.SpanStatusCode.ERROR, message: failure });
      }
      turn.end();
    },
  };
}
