import type { GivenUp, TurnSettings } from '../../spec/turn-process.js';
import { levelOfSandbox } from './exec-launch.js';
import { threadStartedSchema, turnContextSchema } from './exec-output.wire.js';

/** The thread that a line of `exec --json` says it opened. */
export function readOpened(value: unknown): string | undefined {
  return threadStartedSchema.safeParse(value).data?.thread_id;
}

/** What a line of a rollout says that its turn may do. A sandbox that is not known counts as the loosest. */
export function readSettings(value: unknown): TurnSettings | undefined {
  const context = turnContextSchema.safeParse(value).data;
  if (!context) return undefined;
  return { permissions: levelOfSandbox(context.payload.sandbox_policy.type) ?? 'full' };
}

/** The last line that begins with `Error:`; a process that was killed, or ended well, has none. */
export function readGivenUp(errors: string): GivenUp | undefined {
  const detail = errors
    .split('\n')
    .findLast((line) => line.startsWith('Error: '))
    ?.slice('Error: '.length)
    .trim();
  if (detail === undefined) return undefined;
  const known = REASONS.find(([pattern]) => pattern.test(detail));
  return { reason: known?.[1] ?? 'other', detail };
}

const REASONS: readonly (readonly [RegExp, GivenUp['reason']])[] = [
  [/already has an active writer/, 'held_elsewhere'],
  [/is archived/, 'archived'],
  [/no rollout found/, 'no_record'],
  [/failed to read session metadata/, 'unusable_record'],
];

/** A warning, a line of its log, or word of where it reads the message from. */
export function isNotice(line: string): boolean {
  return NOTICES.some((pattern) => pattern.test(line));
}

const NOTICES: readonly RegExp[] = [
  /^WARNING: /,
  /^\d{4}-\d{2}-\d{2}T\S+ +(?:ERROR|WARN|INFO|DEBUG|TRACE) /,
  /^Reading (?:prompt|additional input) from stdin\.\.\.$/,
];
