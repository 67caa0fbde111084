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
import { getProviderFixture } from '../../harness/providers/index.js';
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
  // The sessions are closed by an agent of the harness, which must look like the builder's.
  const like = { mcpServers: BRIDGE, ...allowCall(getProviderFixture(cli.provider).unattended) };
  const subject = await RealSubject.create({ cli, layer: 'agent', config: like });
  const { place, lifetime } = subject;
  const { mcpServers: _bridge, ...config } = subject.config();
  const agent = { transport: 'tmux', ...config, stateDir: place.stateDir };
  const tool = subject.fixture.mcpTool('holdfast', 'call_sub_agent');
  return {
    place,
    command: commandFor(place, { agent, modelUrl: lifetime.baseUrl, tool }),
    modelRequests: subject.modelRequests,
    recordedMessages: async () => [
      ...(await readTranscripts(place)),
      ...(await readRecords(subject)),
    ],
    lose: (handle, target) => subject.lose(handle, target === 'machine' ? 'all_processes' : target),
    closeSession: async (handle) => {
      // The others have no process.
      if (subject.providerFields(handle)['provider'] === cli.provider) await subject.close(handle);
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
    command: commandFor(place, { agent, modelUrl: lifetime.baseUrl, tool: { name: CALL_TOOL } }),
    modelRequests: subject.modelRequests,
    recordedMessages: () => readTranscripts(place),
    lose: async () => {
      throw new Error('An agent on a model API has no process but the service.');
    },
    closeSession: async () => {},
    [Symbol.asyncDispose]: () => subject[Symbol.asyncDispose](),
  };
}

/** The builder's own tools, as they are told apart from others: the address is none of it. */
const BRIDGE = { holdfast: { url: 'http://127.0.0.1:9', stableAs: 'holdfast-builder' } };

const CALL_TOOL = 'mcp__holdfast__call_sub_agent';

/** A policy that lists what is not asked about lists the builder's tool too. */
function allowCall(unattended: HandleJson): HandleJson {
  const { allow, ...policy } = unattended['toolPolicy'] as { readonly allow?: readonly string[] };
  return allow ? { toolPolicy: { ...policy, allow: [...allow, CALL_TOOL] } } : unattended;
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

type CallTool = Omit<ScriptedToolCall, 'input'>;

interface CommandParts {
  readonly agent: HandleJson;
  readonly modelUrl: string;
  readonly tool: CallTool;
}

function commandFor(place: Place, { agent, modelUrl, tool }: CommandParts): WorkflowCommand {
  const { root } = place;
  const calls = callsOf(tool);
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
      prompt: calling('Draft it.', calls, 'It is drafted.'),
      feedback: calling('say that it is.', calls, 'It is checked.'),
      writer: 'writer',
    },
  };
}

function calling(text: string, tools: readonly ScriptedToolCall[], answer: string): string {
  const message = scripted(text, { tools, after: [{ text: answer }] });
  const first = message.indexOf('[[{') + 3;
  // The model reads the last directive of a message; those that it passes on must not look like one.
  return message.slice(0, first) + message.slice(first).replaceAll('[[{', '\\u005b[{');
}

/** The messages of those that are called; the last one fails at once and for good. */
export const subAgentPrompts = [
  'Help with the draft.',
  'Write of the draft.',
  'Fail at the draft.',
];

/** Keys make a call that is made again the same call. */
function callsOf(tool: CallTool): readonly ScriptedToolCall[] {
  const [help = '', write = '', fail = ''] = subAgentPrompts;
  const failing = scripted(fail, failureOf('openai-responses', 'context_too_long'));
  return [
    { ...tool, input: { agent: 'helper', prompt: help, key: 'help' } },
    { ...tool, input: { agent: 'writer', prompt: write, key: 'write' } },
    { ...tool, input: { agent: 'writer', prompt: failing, key: 'fail', background: true } },
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
  const messages = await Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(folder, name, 'transcript.jsonl'), 'utf8').catch(() => '');
      // One turn may be begun twice in the file; what reads it takes the first.
      return [...new Map(text.split('\n').flatMap(readStartedTurn)).values()];
    }),
  );
  return messages.flat();
}

function readStartedTurn(line: string): readonly (readonly [turnId: string, message: string])[] {
  try {
    const { type, turn_id: turnId, message } = JSON.parse(line);
    if (type !== 'turn_started') return [];
    const parts: readonly { readonly text?: string }[] = message;
    return [[turnId, parts.map(({ text = '' }) => text).join('')]];
  } catch {
    // An empty line, or one that a kill cut off.
    return [];
  }
}
