import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HandleJson, HistoryCertificationId } from '@holdfast/provider-core/certification';
import type { WorkerAction, WorkerCommand } from '../../harness/worker/worker-command.js';
import type { ApiSubject, Tamper } from './api-subject.js';

/** A fault that one proof over a model API must catch. */
export interface HistoryFault {
  readonly name: string;
  readonly certification: HistoryCertificationId;
  /** Makes the fault for one subject. */
  readonly plant: () => Tamper;
}

/** One fault at least for every certification of the model APIs. */
export const historyFaults: readonly HistoryFault[] = [
  // The first, since it is caught by its limit alone, and the others may run meanwhile.
  {
    name: 'ignores interrupts',
    certification: 'CertApiInterrupt',
    plant: () => inLayer('ignores_interrupts'),
  },
  {
    name: 'starts afresh',
    certification: 'CertHistoryContinuation',
    plant: () => inLayer('starts_afresh'),
  },
  { name: 'asks the model below', certification: 'CertNonApplicable', plant: () => asksBelow },
  { name: 'starts afresh', certification: 'CertNoHistory', plant: () => inLayer('starts_afresh') },
  {
    name: 'forgets that it called',
    certification: 'CertToolCallOnce',
    plant: () => (subject, command) => {
      rewriteTranscripts(subject, (line) => (line.includes('"tool_call_started"') ? [] : [line]));
      return command;
    },
  },
  {
    name: 'trims messages',
    certification: 'CertApiExactDelivery',
    plant: () =>
      inAction((action) => {
        if (action.type !== 'converse') return action;
        const trim = (content: string) => content.trim();
        const messages = action.messages.map(({ role, content }) => ({
          role,
          content: trim(content),
        }));
        return { ...action, messages };
      }),
  },
  { name: 'drops images', certification: 'CertApiImages', plant: () => inLayer('drops_images') },
  {
    name: 'tells nothing until the end',
    certification: 'CertApiStreaming',
    plant: () => inMessage((text) => text.replace('"chunks":4', '"chunks":1')),
  },
  {
    name: 'takes an error for an answer',
    certification: 'CertApiFailures',
    plant: () => inMessage((text) => text.replace(/\[\[\{.*\}\]\]$/s, '[[{"text":"Sorry."}]]')),
  },
  {
    name: 'ignores changes',
    certification: 'CertApiStableFields',
    plant: () => {
      let first: HandleJson | undefined;
      return inAction((action) => {
        if (action.type === 'start') first = action.config;
        return action.type === 'continue' ? { ...action, agentConfig: first ?? {} } : action;
      });
    },
  },
  {
    name: 'forgets its system prompt',
    certification: 'CertApiSettings',
    plant: () =>
      inAction((action) => {
        if (action.type === 'start') return { ...action, config: withoutPrompt(action.config) };
        if (action.type !== 'continue') return action;
        return { ...action, agentConfig: withoutPrompt(action.agentConfig) };
      }),
  },
  {
    name: 'holds no lease',
    certification: 'CertApiLease',
    plant: () => (subject, command) => {
      removeBelow(subject, /^api\/[^/]+\/lease$/);
      return command;
    },
  },
  {
    name: 'allows everything',
    certification: 'CertApiApproval',
    plant: () => inLayer('allows_everything'),
  },
  {
    name: 'keeps its queue in memory',
    certification: 'CertApiQueue',
    plant: () => (subject, command) => {
      if (command.action.type === 'queue') removeBelow(subject, /^agents\/queues\/[^/]+$/);
      return command;
    },
  },
  {
    name: 'counts one process alone',
    certification: 'CertApiUsage',
    plant: () => (subject, command) => {
      rewriteTranscripts(subject, (line) => [line.replace(/"usage":\{[^{}]*\},?/g, '')]);
      return command;
    },
  },
  {
    name: 'archives nothing',
    certification: 'CertApiArchive',
    plant: () => inLayer('archives_nothing'),
  },
];

function inLayer(plant: string): Tamper {
  return (_subject, command) => ({ ...command, plant });
}

function inAction(change: (action: WorkerAction) => WorkerAction): Tamper {
  return (_subject, command) => ({ ...command, action: change(command.action) });
}

function inMessage(change: (text: string) => string): Tamper {
  return inAction((action) =>
    'message' in action ? { ...action, message: change(action.message) } : action,
  );
}

/** The layer that keeps no history asks the model all the same. */
function asksBelow(subject: ApiSubject, command: WorkerCommand): WorkerCommand {
  const { action } = command;
  if (command.layer !== 'provider-core' || !('message' in action)) return command;
  const { provider, model } = subject;
  const config = { model, apiKey: 'loopback-key', baseUrl: subject.baseUrl };
  const start = { type: 'start', provider, config, message: action.message, options: {} } as const;
  return { ...command, layer: 'agent', action: start };
}

function withoutPrompt({ systemPrompt: _prompt, ...config }: HandleJson): HandleJson {
  return config;
}

function rewriteTranscripts(
  subject: ApiSubject,
  change: (line: string) => readonly string[],
): void {
  for (const path of listBelow(subject, /\/transcript\.jsonl$/)) {
    const lines = readFileSync(path, 'utf8').split('\n').flatMap(change);
    writeFileSync(path, lines.join('\n'));
  }
}

function removeBelow(subject: ApiSubject, name: RegExp): void {
  for (const path of listBelow(subject, name)) rmSync(path, { recursive: true, force: true });
}

function listBelow({ place }: ApiSubject, name: RegExp): readonly string[] {
  let entries: string[] = [];
  try {
    entries = readdirSync(place.stateDir, { recursive: true, encoding: 'utf8' });
  } catch {
    // There is none before the first call.
  }
  return entries.filter((entry) => name.test(entry)).map((entry) => join(place.stateDir, entry));
}
