import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkerAction, WorkerCommand } from './worker-command.js';

type Plant = (action: WorkerAction, command: WorkerCommand) => WorkerAction | Promise<WorkerAction>;

/** Faults of a layer over a real CLI, for runs that must fail: what the layer does instead of what it was asked to. */
const plants: Readonly<Record<string, Plant>> = {
  starts_afresh: (action) =>
    action.type === 'continue'
      ? {
          type: 'start',
          provider: action.provider,
          config: action.agentConfig,
          message: action.message,
          options: action.options,
        }
      : action,
  replays_history: (action) =>
    action.type === 'continue'
      ? { ...action, message: `Remember the codeword heron.\n\n${action.message}` }
      : action,
  ignores_changes: (action) => {
    if (action.type !== 'continue') return action;
    const { config: _config, ...rest } = action;
    const { working_dir: _workingDir, ...handle } = action.handle;
    return { ...rest, handle };
  },
  nudges_instead: (action) => {
    if (action.type !== 'continue' || action.options.onInterrupted !== 'resume') return action;
    return { ...action, message: 'Continue.', options: {} };
  },
  trims_messages: (action) =>
    'message' in action ? { ...action, message: action.message.trim() } : action,
  clears_drafts: (action) =>
    'options' in action ? { ...action, options: { ...action.options, draft: 'replace' } } : action,
  closes_nothing: (action) =>
    action.type === 'close' ? { type: 'inspect', handle: action.handle } : action,
  ignores_provider: (action) =>
    action.type === 'continue'
      ? { ...action, handle: { ...action.handle, provider: action.provider } }
      : action,
  mixes_trace_into_prompt: (action) => {
    const config = 'config' in action ? action.config : undefined;
    if (!config) return action;
    return { ...action, config: { ...config, systemPrompt: JSON.stringify(config['env']) } };
  },
  never_waits: (action) =>
    'options' in action ? { ...action, options: { ...action.options, waitFor: 'turn' } } : action,
  renames_turns: (action) =>
    'options' in action && action.options.turnId
      ? { ...action, options: { ...action.options, turnId: crypto.randomUUID() } }
      : action,
  stays_put: (action) => {
    if (!('options' in action)) return action;
    const { transport: _transport, ...options } = action.options;
    return { ...action, options };
  },
  archives_nothing: (action) => {
    if (action.type !== 'close') return action;
    const { archive: _archive, ...rest } = action;
    return rest;
  },
  removes_leases: async (action) => {
    if ('agentConfig' in action) {
      await rm(join(String(action.agentConfig['cliHome']), '.holdfast'), {
        recursive: true,
        force: true,
      });
    }
    return action;
  },
  forgets_turns: async (action, { stateDir }) => {
    await rm(join(stateDir, 'starts'), { recursive: true, force: true });
    const id = 'handle' in action ? action.handle?.['native_session_id'] : undefined;
    if (id !== undefined) {
      const session = join(
        stateDir,
        'sessions',
        String(action.type === 'continue' && action.provider),
      );
      await rm(join(session, String(id), 'turns'), { recursive: true, force: true });
    }
    return action;
  },
};

/** Faults in what goes along with the action. */
const commandPlants: Readonly<Record<string, (command: WorkerCommand) => WorkerCommand>> = {
  allows_everything: (command) => ({ ...command, decisions: [{ decision: 'allow' }] }),
  chooses_first: ({ decisions, ...command }) => ({
    ...command,
    ...(decisions && { decisions: [{ decision: 'choose', choice: 0 }] }),
  }),
  drops_images: ({ images: _images, ...command }) => command,
};

/** The command with its planted fault, if it has one that changes what is asked. */
export async function plantFault(command: WorkerCommand): Promise<WorkerCommand> {
  const name = command.plant ?? '';
  const plant = plants[name];
  if (plant) return { ...command, action: await plant(command.action, command) };
  return commandPlants[name]?.(command) ?? command;
}
