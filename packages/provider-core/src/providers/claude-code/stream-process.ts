import type { ProviderCapabilities } from '../../spec/capabilities.js';
import type { LaunchPlan, LaunchRequest } from '../../spec/launch-plan.js';
import type { WayClaims } from '../../spec/provider-definition.js';
import type { StreamProcess } from '../../spec/stream-process.js';
import type { TypedPane } from '../../spec/typed-pane.js';
import { capabilities as inPane } from './capabilities.js';
import { planLaunch } from './launch.js';
import { createTranscriptReader } from './record.js';
import { readFrame } from './stream-frames.js';
import { planMessage, streamWriter } from './stream-input.js';
import { createUsageCounter } from './stream-usage.js';

/** Where the CLI without a terminal differs from the one in a pane. */
const capabilities: Partial<ProviderCapabilities> = {
  verbs: {
    ...inPane.verbs,
    interrupt: true,
    steer: true,
    approve: true,
    answer_question: true,
    images: true,
    background_work: true,
    compaction: true,
    usage: true,
    cost: true,
  },
  normalises: [],
};

/** Claude Code as one process that reads and writes JSON lines; what it shares with the pane is taken from there. */
export function createStreamProcess({
  files,
  approvals,
  readRegistry,
  holdsConversation,
  planResumeMark,
}: TypedPane): StreamProcess & WayClaims {
  return {
    kind: 'stream_process',
    takes: ['launcher', 'outputSchema', 'toolPolicy.inherit'],
    capabilities,
    launch: launchAsStream,
    files: {
      record: files.record,
      registryFolder: files.registryFolder,
      startSign: files.spool,
    },
    approvals,
    readRegistry,
    holdsConversation,
    ...(planResumeMark ? { planResumeMark } : {}),
    createRecordReader: () => createTranscriptReader({ ends: 'unmarked' }),
    createUsageCounter,
    planMessage,
    write: streamWriter,
    readFrame,
    readMissingHistory: (lastWords) =>
      /No conversation found with session ID[^\n]*/.exec(lastWords)?.[0],
  };
}

/** Plans the process; the hooks that only a pane needs are left out. */
export function launchAsStream(request: LaunchRequest): LaunchPlan {
  const { outputSchema } = request.config;
  return planLaunch(request, {
    args: [
      '--print',
      '--input-format',
      'stream-json',
      '--output-format',
      'stream-json',
      '--verbose',
      '--include-partial-messages',
      // Brings in the tools that ask somebody. Our hook answers for it: what waits there outlives us, a question here would not.
      '--permission-prompt-tool',
      'stdio',
      ...(outputSchema ? ['--json-schema', writeSchema(outputSchema)] : []),
    ],
    env: { CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: '1' },
    // The first one only shows that hooks run at all.
    hookEvents: ['SessionStart', 'PreToolUse', 'PermissionRequest'],
  });
}

/** Without its dialect: a version refuses one that it does not know, or drops the whole schema in silence. */
function writeSchema({ $schema: _, ...schema }: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(schema);
}
