import type { PlannedFile } from '../../spec/launch-plan.js';
import type { ArmedDelivery } from '../../spec/typed-pane.js';
import { readAllowedModes } from './permission-modes.js';

/** Name of the spool inside the session's private folder. */
export const SPOOL_FILE = 'spool.jsonl';
/** While this file stands, the gate judges what is submitted. */
export const ARMED_FILE = 'gate-armed';
/** While this file stands, somebody answers permission requests through the `approvals` folder. */
export const APPROVER_FILE = 'approver';
/** Where permission requests wait for their answer. */
export const APPROVALS_FOLDER = 'approvals';

/** The text that was armed last, in the form the gate looks for. */
export const ARMED_TEXT_FILE = 'gate-text';
const BARRIER_SECONDS = 20;
const APPROVAL_SECONDS = 1_800;

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
          command: `/bin/sh ${quote(`${filesDir}/${script}`)}${argument}`,
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
    `dir=${quote(request.filesDir)}`,
    `spool="$dir"/${SPOOL_FILE}`,
    'payload=$(cat)',
  ];
  const script = (name: string, lines: readonly string[]) => ({
    name,
    content: `${[...head, ...lines].join('\n')}\n`,
    executable: true,
  });
  return [
    script('spool.sh', SPOOL_LINES),
    script('gate.sh', GATE_LINES),
    script('barrier.sh', [
      `home=${quote(request.cliHome)}`,
      `session=${quote(request.nativeSessionId)}`,
      ...BARRIER_LINES,
    ]),
    script('approval.sh', APPROVAL_LINES),
  ];
}

/** The files that tell the gate which text is ours. */
export function armGate({ text, token, permissions }: ArmedDelivery): readonly PlannedFile[] {
  return [
    // The very bytes that stand in the payload if, and only if, the submitted text is exactly this one.
    { name: ARMED_TEXT_FILE, content: `"prompt":${JSON.stringify(text)}\n` },
    { name: ARMED_FILE, content: `${token} ${readAllowedModes(permissions).join(' ')}\n` },
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

/** One write a line: lines of hooks that run at the same time do not mix. */
const SPOOL_LINES = [`printf '{"hook":"%s","payload":%s}\\n' "$1" "$payload" >>"$spool"`];

const GATE_LINES = [
  `armed="$dir"/${ARMED_FILE}`,
  `other() { printf '{"hook":"gate","verdict":"other","payload":%s}\\n' "$payload" >>"$spool"; exit 0; }`,
  `tell() { printf '{"hook":"gate","verdict":"%s","token":"%s","mode":"%s"}\\n' "$1" "$token" "$mode" >>"$spool"; }`,
  // A block drops the text from the session; nothing of it reaches the model.
  `block() { tell "$1"; printf '{"decision":"block","reason":"%s"}\\n' "$2"; exit 0; }`,
  'read -r token modes 2>/dev/null <"$armed" || other',
  'mode=${payload%%\\"prompt\\":*}',
  'mode=${mode##*\\"permission_mode\\":\\"}; mode=${mode%%\\"*}',
  'case $mode in *[!A-Za-z]*) mode=unreadable ;; esac',
  'if printf \'%s\\n\' "$payload" | grep -qF -f "$dir"/gate-text; then',
  '  case " $modes " in',
  '    *" $mode "*) ;;',
  '    *) block looser_permissions "The permission mode is looser than the session allows; nothing was sent." ;;',
  '  esac',
  '  rm -f "$armed"',
  '  tell passed',
  '  exit 0',
  'fi',
  'part="$dir"/gate-part.$$',
  'sed \'s/^"prompt":"//; s/"$//\' "$dir"/gate-text >"$part"',
  'printf \'%s\\n\' "$payload" | grep -qF -f "$part"; found=$?',
  'rm -f "$part"',
  'if [ "$found" = 0 ]; then',
  '  block mixed "Another text stood in the composer beside a message that was being delivered; nothing was sent."',
  'fi',
  'other',
];

const BARRIER_LINES = [
  `deny() { printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"%s"}}\\n' "$1"; exit 0; }`,
  'head=${payload%%\\"tool_input\\":*}',
  // A subagent's tools come after the call that started it, and that one has passed here.
  'case $head in *\'"agent_id":"\'*) exit 0 ;; esac',
  'id=${payload##*\\"tool_use_id\\":\\"}; id=${id%%\\"*}',
  'case $id in "" | *[!A-Za-z0-9_-]*) deny "The tool call has no readable id." ;; esac',
  // In a new file the call has been seen to stand before the message it belongs to: both must be there.
  'prompt=',
  'case $head in *\'"prompt_id":"\'*) prompt=${head#*\\"prompt_id\\":\\"}; prompt=${prompt%%\\"*} ;; esac',
  'case $prompt in *[!A-Za-z0-9-]*) prompt= ;; esac',
  // The end of the file first; the whole of it for what is longer than that.
  'holds() { tail -c 1000000 "$record" 2>/dev/null | grep -qF "$1" || grep -qF "$1" "$record" 2>/dev/null; }',
  'tries=0',
  `while [ "$tries" -lt ${BARRIER_SECONDS * 40} ]; do`,
  '  for record in "$home"/projects/*/"$session".jsonl; do',
  '    if holds "\\"$id\\"" && holds "\\"promptId\\":\\"$prompt"; then exit 0; fi',
  '  done',
  '  sleep 0.02',
  '  tries=$((tries + 1))',
  'done',
  'deny "The tool call did not reach the record in time, so it was not run."',
];

const APPROVAL_LINES = [
  ...SPOOL_LINES.map((line) => line.replace('"$1"', 'PermissionRequest')),
  `deny() { printf '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"%s"}}}\\n' "$1"; exit 0; }`,
  `[ -e "$dir"/${APPROVER_FILE} ] || deny "Nobody is there to approve this. Go on without it."`,
  `mkdir -p "$dir"/${APPROVALS_FOLDER}`,
  `request=$(mktemp -d "$dir"/${APPROVALS_FOLDER}/XXXXXXXXXX) || deny "The request could not be written."`,
  'printf \'%s\\n\' "$payload" >"$request"/request.tmp',
  'mv "$request"/request.tmp "$request"/request.json',
  'tries=0',
  `while [ "$tries" -lt ${APPROVAL_SECONDS * 5} ]; do`,
  '  if [ -f "$request"/answer.json ]; then cat "$request"/answer.json; rm -rf "$request"; exit 0; fi',
  '  sleep 0.2',
  '  tries=$((tries + 1))',
  'done',
  'rm -rf "$request"',
  'deny "Nobody approved this in time."',
];

/** One word of `sh`, whatever stands in it. */
function quote(value: string): string {
  return `'${value.replaceAll("'", "'\\''")}'`;
}
