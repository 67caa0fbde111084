import type { PlannedFile } from '../../spec/launch-plan.js';
import type { ArmedDelivery } from '../../spec/typed-pane.js';
import { ARMED_FILE, ARMED_TEXT_FILE, SPOOL_FILE } from './hook-file-names.js';
import {
  APPROVAL_SCRIPT,
  APPROVAL_SECONDS,
  BARRIER_SECONDS,
  createBarrierScript,
  GATE_SCRIPT,
  SPOOL_SCRIPT,
} from './hook-scripts.js';
import { readAllowedModes } from './permission-modes.js';
import { quoteForShell } from './shell-quote.js';

/** `sh` reads a byte at a time: up to about this many that costs less than a process that reads them at once. */
const SHORT_CHARACTERS = 500;

/** Events that are only written down. */
const SPOOLED_EVENTS = [
  'SessionStart',
  'Stop',
  'StopFailure',
  'Notification',
  'PreCompact',
  'PostCompact',
  'SubagentStop',
  'SessionEnd',
];

/** Told over http as well: what a caller waits for. A dead address costs an error line in the pane, nothing else. */
const ACCELERATED_EVENT = 'Stop';
const HTTP_SECONDS = 2;

/** The `hooks` part of the settings file. */
export function createHookSettings(filesDir: string, signalUrl?: string): object {
  const command = (script: string, timeout: number, argument = '') => [
    {
      hooks: [
        {
          type: 'command',
          command: `/bin/sh ${quoteForShell(`${filesDir}/${script}`)}${argument}`,
          timeout,
        },
      ],
    },
  ];
  return {
    UserPromptSubmit: command('gate.sh', 30),
    PreToolUse: command('barrier.sh', BARRIER_SECONDS + 10),
    PermissionRequest: command('approval.sh', APPROVAL_SECONDS + 60),
    ...Object.fromEntries(
      SPOOLED_EVENTS.map((event) => [
        event,
        [...command('spool.sh', 10, ` ${event}`), ...createHttpHook(event, signalUrl)],
      ]),
    ),
  };
}

function createHttpHook(event: string, signalUrl: string | undefined): readonly object[] {
  if (signalUrl === undefined || event !== ACCELERATED_EVENT) return [];
  return [{ hooks: [{ type: 'http', url: `${signalUrl}/${event}`, timeout: HTTP_SECONDS }] }];
}

interface HookFilesRequest {
  readonly filesDir: string;
  readonly cliHome: string;
  readonly nativeSessionId: string;
}

/** The hook scripts: small `sh`, since a `node` hook costs 80 ms a call. Text of a user is only ever bytes in a pipe. */
export function createHookFiles(request: HookFilesRequest): readonly PlannedFile[] {
  const head = [
    '#!/bin/sh',
    'umask 077',
    'LC_ALL=C; export LC_ALL',
    `dir=${quoteForShell(request.filesDir)}`,
    `spool="$dir"/${SPOOL_FILE}`,
  ];
  const script = (name: string, lines: readonly string[]) => ({
    name,
    content: `${[...head, ...lines].join('\n')}\n`,
    executable: true,
  });
  return [
    script('spool.sh', SPOOL_SCRIPT),
    script('gate.sh', GATE_SCRIPT),
    script('barrier.sh', createBarrierScript(request)),
    script('approval.sh', APPROVAL_SCRIPT),
  ];
}

/** The files that tell the gate which text is ours. */
export function armGate({ text, token, permissions }: ArmedDelivery): readonly PlannedFile[] {
  // The very bytes that stand in the payload if, and only if, the submitted text is exactly this one.
  const content = `"prompt":${JSON.stringify(text)}\n`;
  const form = content.length <= SHORT_CHARACTERS ? 'short' : 'long';
  return [
    { name: ARMED_TEXT_FILE, content },
    { name: ARMED_FILE, content: `${token} ${form} ${readAllowedModes(permissions).join(' ')}\n` },
  ];
}

/** Reads {@link ARMED_TEXT_FILE} back. */
export function readArmedText(content: string): string | undefined {
  try {
    const value: unknown = JSON.parse(`{${content}}`);
    const isOurs = typeof value === 'object' && value !== null && 'prompt' in value;
    return isOurs && typeof value.prompt === 'string' ? value.prompt : undefined;
  } catch {
    return undefined;
  }
}
