import {
  ANSWER_FILE,
  APPROVALS_FOLDER,
  APPROVER_FILE,
  ARMED_FILE,
  ARMED_TEXT_FILE,
  REQUEST_FILE,
} from './hook-file-names.js';
import { quoteForShell } from './shell-quote.js';

/** How long a tool call waits for its own record. */
export const BARRIER_SECONDS = 20;
/** How long a request waits for an answer. Longer than any service's own deadline: that one is to be the first. */
export const APPROVAL_SECONDS = 1_800;

const READ_PAYLOAD = 'payload=$(cat)';

/** One write a line: lines of hooks that run at the same time do not mix. */
const spoolLine = (hook: string) =>
  `printf '{"hook":"%s","payload":%s}\\n' ${hook} "$payload" >>"$spool"`;

/** Writes down what a hook is told. */
export const SPOOL_SCRIPT: readonly string[] = [READ_PAYLOAD, spoolLine('"$1"')];

/** Judges what is submitted. For a short text it starts no other process: each costs about a millisecond of the turn. */
export const GATE_SCRIPT: readonly string[] = [
  `armed="$dir"/${ARMED_FILE}`,
  `other() { printf '{"hook":"gate","verdict":"other","payload":%s}\\n' "$payload" >>"$spool"; exit 0; }`,
  `tell() { printf '{"hook":"gate","verdict":"%s","token":"%s","mode":"%s"}\\n' "$1" "$token" "$mode" >>"$spool"; }`,
  // A block drops the text from the session; nothing of it reaches the model.
  `block() { tell "$1"; printf '{"decision":"block","reason":"%s"}\\n' "$2"; exit 0; }`,
  'token=; form=; modes=',
  'read -r token form modes 2>/dev/null <"$armed"',
  'if [ "$form" = short ]; then IFS= read -r payload; else payload=$(cat); fi',
  '[ -n "$token" ] || other',
  'mode=${payload%%\\"prompt\\":*}',
  'mode=${mode##*\\"permission_mode\\":\\"}; mode=${mode%%\\"*}',
  'case $mode in *[!A-Za-z]*) mode=unreadable ;; esac',
  `text="$dir"/${ARMED_TEXT_FILE}`,
  'if [ "$form" = short ]; then IFS= read -r wanted <"$text"; else wanted=$(cat "$text"); fi',
  '[ -n "$wanted" ] || other',
  'case $payload in *"$wanted"*)',
  '  case " $modes " in',
  '    *" $mode "*) ;;',
  '    *) block looser_permissions "The permission mode is looser than the session allows; nothing was sent." ;;',
  '  esac',
  '  printf "" >"$armed"',
  '  tell passed',
  '  exit 0 ;;',
  'esac',
  'part=${wanted#\\"prompt\\":\\"}; part=${part%\\"}',
  'said=${payload#*\\"prompt\\":}',
  'case $said in *"$part"*)',
  '  block mixed "Another text stood in the composer beside a message that was being delivered; nothing was sent." ;;',
  'esac',
  'other',
];

/** Holds a tool back until the call and its message stand in the record. */
export function createBarrierScript(request: {
  readonly cliHome: string;
  readonly nativeSessionId: string;
}): readonly string[] {
  return [
    READ_PAYLOAD,
    `home=${quoteForShell(request.cliHome)}`,
    `session=${quoteForShell(request.nativeSessionId)}`,
    ...BARRIER_LINES,
  ];
}

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
  'tries=0; end=',
  'while :; do',
  '  for record in "$home"/projects/*/"$session".jsonl; do',
  '    if holds "\\"$id\\"" && holds "\\"promptId\\":\\"$prompt"; then exit 0; fi',
  '  done',
  // By the clock: on a busy machine a look takes longer, and past the hook's own limit the CLI runs the tool unasked.
  '  if [ $((tries % 20)) -eq 0 ]; then',
  `    now=$(date +%s); [ -n "$end" ] || end=$((now + ${BARRIER_SECONDS}))`,
  '    [ "$now" -lt "$end" ] || break',
  '  fi',
  '  sleep 0.02',
  '  tries=$((tries + 1))',
  'done',
  'deny "The tool call did not reach the record in time, so it was not run."',
];

/**
 * Relays a permission request to the service. It ends with its answer, without a word when its folder is gone (a person
 * answered in the pane), and by denying when nobody is there to answer, or nobody is left.
 */
export const APPROVAL_SCRIPT: readonly string[] = [
  READ_PAYLOAD,
  spoolLine('PermissionRequest'),
  `deny() { printf '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"%s"}}}\\n' "$1"; exit 0; }`,
  `approver="$dir"/${APPROVER_FILE}`,
  '[ -e "$approver" ] || deny "Nobody is there to approve this. Go on without it."',
  `mkdir -p "$dir"/${APPROVALS_FOLDER}`,
  `request=$(mktemp -d "$dir"/${APPROVALS_FOLDER}/XXXXXXXXXX) || deny "The request could not be written."`,
  `printf '%s\\n' "$payload" >"$request"/request.tmp`,
  `mv "$request"/request.tmp "$request"/${REQUEST_FILE}`,
  'tries=0',
  `while [ "$tries" -lt ${APPROVAL_SECONDS * 10} ]; do`,
  `  if [ -f "$request"/${ANSWER_FILE} ]; then cat "$request"/${ANSWER_FILE}; rm -rf "$request"; exit 0; fi`,
  '  [ -d "$request" ] || exit 0',
  '  if [ ! -e "$approver" ]; then rm -rf "$request"; deny "Nobody is there any more to approve this. Go on without it."; fi',
  '  sleep 0.1',
  '  tries=$((tries + 1))',
  'done',
  'rm -rf "$request"',
  'deny "Nobody approved this in time."',
];
