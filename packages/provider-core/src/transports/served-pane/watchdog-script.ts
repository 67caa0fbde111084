import type { ServedRecord } from '../../spec/served-pane.js';

/** When the watchdog looks, and when it ends a server that nobody uses. */
export interface WatchdogTimes {
  /** Whole seconds between two looks. */
  readonly lookSeconds: number;
  /** Whole seconds without a client and without a turn. */
  readonly idleSeconds: number;
  /** Whole seconds a server may wait for its first client, where that is longer. */
  readonly startSeconds: number;
}

/** Half an hour: long enough for a service that restarts, short enough to leave nothing behind. */
export const DEFAULT_WATCHDOG_TIMES: WatchdogTimes = {
  lookSeconds: 5,
  idleSeconds: 1_800,
  startSeconds: 60,
};

const LOG_BYTES = 1024 * 1024;
/** One look at the log for so many looks at the server. */
const LOOKS_A_LOG = 12;

/**
 * The script that starts the server, waits beside it and stops it when its last session was closed
 * or nobody used it for long. It outlives us, ends with the server, and ends nothing else.
 *
 * Arguments: the server's folder, its socket, `start` and the server's command line, or `attach` and the pid of a server
 * whose watchdog was killed.
 */
export function planWatchdogScript(
  { lookSeconds, idleSeconds, startSeconds }: WatchdogTimes,
  { begin, end }: ServedRecord['turnMarks'],
): string {
  const marks = [begin, ...end].map((mark) => `-e ${quote(mark)}`).join(' ');
  return `#!/bin/sh
dir=$1 socket=$2 how=$3
shift 3
cd / || exit 1
# The record was written before we were started. One that names another server has replaced us.
ours() {
  line=
  { read -r line <"$dir/server.json"; } 2>/dev/null
  case $line in *"$HOLDFAST_NONCE"*) return 0; esac
  return 1
}
ours || exit 1
if [ "$how" = attach ]; then server=$1; else
  "$@" </dev/null >>"$dir/server.log" 2>&1 &
  server=$!
fi

# Pid and start time: a pid alone is given to somebody else one day.
started() {
  [ -r "/proc/$server/stat" ] || return 1
  read -r stat <"/proc/$server/stat" || return 1
  set -- \${stat##*) }
  [ "$1" != Z ] && [ "$1" != X ] || return 1
  shift 19
  printf %s "$1"
}
if ! start=$(started); then kill "$server"; exit 1; fi
printf '%s %s\\n' "$server" "$start" >"$dir/server.pid.new" && mv "$dir/server.pid.new" "$dir/server.pid"

alive() { [ "$(started)" = "$start" ]; }
wanted() { for mark in "$dir"/sessions/*.json; do [ -e "$mark" ] && return 0; done; return 1; }
# The server may listen under another name than the one it was given, which does not change.
real=
connected() {
  [ -n "$real" ] || [ ! -e "$socket" ] || real=$(readlink -f "$socket" 2>/dev/null)
  case $(grep -F -e " $socket" -e " \${real:-$socket}" /proc/net/unix 2>/dev/null) in *" 03 "*) return 0; esac
  return 1
}
in_turn() {
  for mark in "$dir"/sessions/*.json; do
    [ -e "$mark" ] || continue
    record=$(sed -n 's/.*"recordPath":"\\([^"]*\\)".*/\\1/p' "$mark")
    [ -f "$record" ] || continue
    [ "$(grep -o -F ${marks} "$record" | tail -n 1)" = ${quote(begin)} ] && return 0
  done
  return 1
}
# Said before it is done: whoever opens a session marks it first and then looks for this file.
stop_unless() {
  # A colon instead would end this script where the folder is gone, and leave the server.
  { true >"$dir/stopping"; } 2>/dev/null
  if "$@"; then rm -f "$dir/stopping"; return; fi
  alive && kill -TERM "$server"
  for _ in 1 2 3 4 5; do alive || break; sleep 1; done
  alive && kill -KILL "$server"
}
used() { connected || in_turn; }

idle=0 looks=0 limit=${Math.max(idleSeconds, startSeconds)}
while alive; do
  # Every look is a fork or two for as long as the server lives; the log is looked at less often.
  looks=$((looks + 1))
  if [ $((looks % ${LOOKS_A_LOG})) = 0 ] && [ -f "$dir/server.log" ] &&
    [ "$(wc -c <"$dir/server.log")" -gt ${LOG_BYTES} ]; then true >"$dir/server.log"; fi
  if connected; then idle=0 looks=0 limit=${idleSeconds}; else idle=$((idle + ${lookSeconds})); fi
  if ! ours; then stop_unless ours
  elif ! wanted; then stop_unless wanted
  elif [ "$idle" -ge "$limit" ]; then
    if in_turn; then idle=0; else stop_unless used; fi
  fi
  alive && sleep ${lookSeconds}
done
wait "$server" 2>/dev/null
rm -f "$dir/stopping"
# A launcher that was killed leaves the server it had launched in our group.
if [ "$how" = start ]; then trap '' TERM; kill -TERM 0; fi
`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
