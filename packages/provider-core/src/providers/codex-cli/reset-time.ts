const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MINUTE_MS = 60_000;

/**
 * The instant in `… or try again at 6:30 PM.`, or `at Dec 1st, 2026 6:30 PM.` for another day, as ISO 8601. Codex writes
 * it in local time and without seconds, so the end of that minute is meant. `recordedAt` is when it was written.
 */
export function readResetTime(message: string, recordedAt: string | undefined): string | undefined {
  const found =
    /try again at (?:([A-Z][a-z]{2}) (\d{1,2})(?:st|nd|rd|th), (\d{4}) )?(\d{1,2}):(\d{2}) ([AP])M/.exec(
      message,
    );
  const written = Date.parse(recordedAt ?? '');
  if (!found || Number.isNaN(written)) return undefined;
  const [, month, day, year, hour, minute, half] = found;
  const at = new Date(written);
  if (month !== undefined) at.setFullYear(Number(year), MONTHS.indexOf(month), Number(day));
  at.setHours((Number(hour) % 12) + (half === 'P' ? 12 : 0), Number(minute), 0, 0);
  return new Date(at.getTime() + MINUTE_MS).toISOString();
}
