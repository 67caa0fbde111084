import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { trace } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { beginScripted } from './scripted-session.js';
import { ScriptedProvider } from './scripted-transport.js';

const exporter = new InMemorySpanExporter();
let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'hf-trace-'));
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  );
});
afterAll(async () => {
  trace.disable();
  await rm(root, { recursive: true, force: true });
});
beforeEach(() => exporter.reset());

async function send(provider: ScriptedProvider, text: string) {
  const { turn } = await beginScripted(provider, text, {
    stateDir: join(root, crypto.randomUUID(), 'state'),
  });
  return await turn;
}

describe('the spans of a turn', () => {
  it('are one for the turn and one for each of its stages, as its children', async () => {
    const { turnId } = await send(new ScriptedProvider(), 'hello');
    const spans = exporter.getFinishedSpans();
    const turn = spans.find(({ name }) => name === 'holdfast.turn');
    expect(spans.map(({ name }) => name)).toEqual([
      'holdfast.turn.launch',
      'holdfast.turn.delivery',
      'holdfast.turn.wait',
      'holdfast.turn.settle',
      'holdfast.turn',
    ]);
    expect(turn?.attributes).toMatchObject({
      'holdfast.turn_id': turnId,
      'holdfast.provider': 'scripted',
      'holdfast.transport': 'tmux',
    });
    for (const stage of spans.slice(0, 4)) {
      expect(stage.parentSpanContext?.spanId).toBe(turn?.spanContext().spanId);
    }
  });

  it('tell the kind of a failure and no word of a message', async () => {
    const provider = new ScriptedProvider();
    provider.respond = () => [
      { type: 'turn_failed', reason: 'overloaded', detail: 'you said: a secret word' },
    ];
    await expect(send(provider, 'a secret word')).rejects.toMatchObject({ reason: 'overloaded' });
    const spans = exporter.getFinishedSpans();
    const turn = spans.find(({ name }) => name === 'holdfast.turn');
    expect(turn?.status).toMatchObject({ message: 'provider_failed' });
    const told = spans.map(({ name, attributes, status, events }) =>
      JSON.stringify([name, attributes, status, events]),
    );
    expect(told.join()).not.toContain('secret');
  });
});
