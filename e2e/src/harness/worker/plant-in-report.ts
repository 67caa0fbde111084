/** A report with its planted fault, or nothing when the fault is that it is not made. */
export function plantInReport<Report extends object>(
  report: Report,
  plant: string | undefined,
): Report | undefined {
  const text = JSON.stringify(report);
  if (plant === 'swallows_the_loss' && text.includes('"type":"lost_tmux"')) return undefined;
  if (plant === 'drops_unknown_keys') {
    return JSON.parse(text, (key, value) => (key === 'a_newer_field' ? undefined : value));
  }
  if (plant === 'reports_another_id') {
    return JSON.parse(text, (key, value) =>
      key === 'native_session_id' ? value.replace(/^./, value.startsWith('0') ? '1' : '0') : value,
    );
  }
  return report;
}
