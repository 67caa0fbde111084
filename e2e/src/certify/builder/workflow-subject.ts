import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findUserMessages, type HandleJson } from '@holdfast/provider-core/certification';
import type { CliUnderTest } from '../../harness/cli-under-test.js';
import type { ModelLifetime } from '../../harness/model-lifetime.js';
import type { ModelApiFixture } from '../../harness/providers/model-apis.js';
import { RealSubject } from '../../harness/real-subject.js';
import type { WorkflowCommand } from '../../workflows/workflow-command.js';
import { ApiSubject } from '../api/api-subject.js';

/** A provider under a whole builder, with folders and a model of its own. */
export interface WorkflowSubject extends AsyncDisposable {
  readonly home: string;
  readonly lifetime: ModelLifetime;
  /** What every service of the case is told. */
  readonly command: WorkflowCommand;
  /** Writes onto the session's terminal, as if the CLI had; nothing where there is none. */
  readonly paintTerminal: (handle: HandleJson, text: string) => Promise<void>;
  /** Kills the session's terminal; nothing where there is none. */
  readonly loseTerminal: (handle: HandleJson) => Promise<void>;
  readonly close: (handle: HandleJson) => Promise<unknown>;
}

/** A CLI in a terminal, under a builder. */
export async function createCliWorkflowSubject(cli: CliUnderTest): Promise<WorkflowSubject> {
  const subject = await RealSubject.create({ cli, layer: 'agent' });
  const { place, lifetime } = subject;
  return {
    home: place.home,
    lifetime,
    command: commandFor(place, {
      transport: 'tmux',
      ...subject.config(),
      stateDir: place.stateDir,
    }),
    paintTerminal: async (handle, text) => {
      const session = `=${String(subject.providerFields(handle)['tmux_session'])}:`;
      const tty = await subject.tmux.run('display-message', '-p', '-t', session, '#{pane_tty}');
      await writeFile(tty.trim(), text);
    },
    loseTerminal: (handle) => subject.lose(handle, 'pane'),
    close: (handle) => subject.close(handle),
    [Symbol.asyncDispose]: () => subject[Symbol.asyncDispose](),
  };
}

/** An agent on a model API, under a builder. */
export async function createApiWorkflowSubject(api: ModelApiFixture): Promise<WorkflowSubject> {
  const subject = await ApiSubject.create(api);
  const { place, lifetime, model, provider, baseUrl } = subject;
  const { workingDir, stateDir, home } = place;
  return {
    home,
    lifetime,
    command: commandFor(place, {
      provider,
      model,
      apiKey: 'loopback-key',
      baseUrl,
      workingDir,
      stateDir,
    }),
    paintTerminal: async () => {},
    loseTerminal: async () => {},
    close: (handle) => subject.close(handle),
    [Symbol.asyncDispose]: () => subject[Symbol.asyncDispose](),
  };
}

function commandFor({ root }: { readonly root: string }, agent: HandleJson): WorkflowCommand {
  return {
    dataDir: join(root, 'data'),
    agents: { coder: agent, desk: agent },
    desk: { chatId: 'desk', agent: 'desk' },
    sharedFile: join(root, 'knowledge.md'),
    notificationFile: join(root, 'notifications.jsonl'),
  };
}

/** What a proof reads of a step's state on disk. */
export interface StepState {
  readonly agent_session_handle?: HandleJson;
  readonly phases: Readonly<Record<string, { readonly status: string } | undefined>>;
}

/** The state of the workflow's one step, as it stands on disk. */
export async function readStepState({ dataDir }: WorkflowCommand): Promise<StepState | undefined> {
  const path = join(dataDir, 'runs', '1', 'main', 'logs', 'draft', 'continuation_state.json');
  const text = await readFile(path, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : JSON.parse(text);
}

/** The user messages of the longest conversation that holds such a message, as the model was sent them. */
export function readConversation(
  { lifetime }: WorkflowSubject,
  isHeld: (text: string) => boolean,
): readonly string[] {
  return lifetime
    .requests()
    .map((request) => findUserMessages(request).map(({ text }) => text))
    .filter((texts) => texts.some(isHeld))
    .reduce<readonly string[]>((one, other) => (other.length > one.length ? other : one), []);
}
