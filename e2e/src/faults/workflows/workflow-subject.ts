import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type HandleJson,
  type ModelRequest,
  type ScriptedToolCall,
  scripted,
} from '@holdfast/provider-core/certification';
import { ApiSubject } from '../../certify/api/api-subject.js';
import type { CliUnderTest } from '../../harness/cli-under-test.js';
import type { Place } from '../../harness/place.js';
import { failureOf } from '../../harness/providers/failure-of.js';
import { listModelApiFixtures } from '../../harness/providers/model-apis.js';
import { RealSubject } from '../../harness/real-subject.js';
import type { WorkflowCommand } from '../../workflows/workflow-command.js';
import type { WorkflowTarget } from './workflow-cell.js';

/** The model API whose agents stand beside those of a CLI. */
const WRITER_API = 'openai';

/** Who drives the first step and the desk: a CLI in a terminal, or agents on a model API. */
export type WorkflowDriver =
  | { readonly kind: 'cli'; readonly cli: CliUnderTest }
  | { readonly kind: 'api'; readonly provider: string };

/** A driver's name, for people. */
export function nameDriver(driver: WorkflowDriver): string {
  return driver.kind === 'api' ? driver.provider : `${driver.cli.provider} ${driver.cli.version}`;
}

/** One run's folders, model and sessions, looked at from the outside. */
export interface WorkflowSubject extends AsyncDisposable {
  readonly place: Place;
  readonly command: WorkflowCommand;
  readonly modelRequests: () => readonly ModelRequest[];
  /** Every message that stands in any record of a session, of a CLI's own or of ours. */
  readonly recordedMessages: () => Promise<readonly string[]>;
  /** Kills what a session runs in; a target that is not there rejects. */
  readonly lose: (handle: HandleJson, target: Exclude<WorkflowTarget, 'service'>) => Promise<void>;
  readonly closeSession: (handle: HandleJson) => Promise<void>;
}

/** Sets up what one run needs. */
export function createWorkflowSubject(driver: WorkflowDriver): Promise<WorkflowSubject> {
  return driver.kind === 'cli' ? createOverCli(driver.cli) : createOverApi(driver.provider);
}

async function createOverCli(cli: CliUnderTest): Promise<WorkflowSubject> {
  const subject = await RealSubject.create({ cli, layer: 'agent' });
  const { place, lifetime } = subject;
  const [name, policy] = findCallName(subject);
  const agent = {
    transport: 'tmux',
    ...subject.config(policy),
    stateDir: place.stateDir,
  };
  return {
    place,
    command: commandFor(place, { agent, modelUrl: lifetime.baseUrl, callName: name }),
    modelRequests: subject.modelRequests,
    recordedMessages: async () => [
      ...(await readTranscripts(place)),
      ...(await readRecords(subject)),
    ],
    lose: (handle, target) =>
      subject.lose(handle, target === 'machine' ? 'all_processes' : target),
    closeSession: async (handle) => {
      await subject.close(handle);
    },
    [Symbol.asyncDispose]: () => subject[Symbol.asyncDispose](),
  };
}

async function createOverApi(provider: string): Promise<WorkflowSubject> {
  const api = listModelApiFixtures().find((one) => one.provider === provider);
  if (!api) throw new Error(`${provider} is no model API.`);
  const subject = await ApiSubject.create(api);
  const { place, lifetime } = subject;
  const agent = apiAgent(place, provider, subject.baseUrl);
  return {
    place,
    command: commandFor(place, { agent, modelUrl: lifetime.baseUrl, callName: API_CALL }),
    modelRequests: subject.modelRequests,
    recordedMessages: () => readTranscripts(place),
    lose: async () => {
      throw new Error('An agent on a model API has no process but the service.');
    },
    closeSession: async () => {},
    [Symbol.asyncDispose]: () => subject[Symbol.asyncDispose](),
  };
}

const API_CALL = 'mcp__holdfast__call_sub_agent';

/** How the CLI's model names the tool, and the policy under which it is not asked about. */
function findCallName({ unattended }: RealSubject): readonly [string, HandleJson] {
  const policy = unattended['toolPolicy'] as { readonly allow?: readonly string[] };
  const allowed = policy.allow && { ...policy, allow: [...policy.allow, API_CALL] };
  return [API_CALL, allowed ? { toolPolicy: allowed } : unattended];
}

function apiAgent({ workingDir, stateDir }: Place, provider: string, baseUrl: string): HandleJson {
  return {
    provider,
    model: 'scripted-model',
    apiKey: 'loopback-key',
    baseUrl,
    workingDir,
    stateDir,
    toolPolicy: { permissions: 'full' },
  };
}

interface CommandParts {
  readonly agent: HandleJson;
  readonly modelUrl: string;
  readonly callName: string;
}

function commandFor(place: Place, { agent, modelUrl, callName }: CommandParts): WorkflowCommand {
  const { root } = place;
  const calls = callsOf(callName);
  return {
    dataDir: join(root, 'data'),
    agents: {
      coder: agent,
      desk: agent,
      helper: agent,
      writer: apiAgent(place, WRITER_API, `${modelUrl}/v1`),
    },
    subAgents: ['helper', 'writer'],
    desk: { chatId: 'desk', agent: 'desk' },
    sharedFile: join(root, 'knowledge.md'),
    notificationFile: join(root, 'notifications.jsonl'),
    start: { iteration: '1', codeword: 'heron', agent: 'coder' },
    everyPhase: {
      prompt: scripted('Draft it.', { tools: calls, after: [{ text: 'It is drafted.' }] }),
      feedback: scripted('say that it is.', { tools: calls, after: [{ text: 'It is checked.' }] }),
      writer: 'writer',
    },
  };
}

/** The messages of those that are called; the last one fails at once and for good. */
export const subAgentPrompts = ['Help with the draft.', 'Write of the draft.', 'Fail at the draft.'];

/** Keys make a call that is made again the same call. */
function callsOf(name: string): readonly ScriptedToolCall[] {
  const [help = '', write = '', fail = ''] = subAgentPrompts;
  const failing = scripted(fail, failureOf('openai-responses', 'context_too_long'));
  return [
    { name, input: { agent: 'helper', prompt: help, key: 'help' } },
    { name, input: { agent: 'writer', prompt: write, key: 'write' } },
    { name, input: { agent: 'writer', prompt: failing, key: 'fail', background: true } },
  ];
}

async function readRecords(subject: RealSubject): Promise<readonly string[]> {
  const ids = await subject.nativeSessions();
  const read = (id: string) => subject.fixture.readUserMessages(subject.cliHome, id);
  return (await Promise.all(ids.map(read))).flat();
}

/** The messages that sessions on a model API were given, as the conversations that we keep hold them. */
async function readTranscripts({ stateDir }: Place): Promise<readonly string[]> {
  const folder = join(stateDir, 'api');
  const names = await readdir(folder).catch(() => []);
  const texts = await Promise.all(
    names.map((name) => readFile(join(folder, name, 'transcript.jsonl'), 'utf8').catch(() => '')),
  );
  return texts
    .flatMap((text) => text.split('\n'))
    .flatMap((line) => {
      try {
        const record = JSON.parse(line);
        return record.type === 'turn_started' ? [String(record.message)] : [];
      } catch {
        // An empty line, or one that a kill cut off.
        return [];
      }
    });
}
