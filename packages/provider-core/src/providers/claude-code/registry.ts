import type { RegistryEntry } from '../../spec/typed-pane.js';
import { readRegistryRow } from './registry.wire.js';

/** Reads `sessions/<pid>.json`. Before the start-up pages are past, newer versions keep a file there without a session. */
export function readRegistry(value: unknown): RegistryEntry | undefined {
  const row = readRegistryRow(value);
  if (row?.sessionId === undefined) return undefined;
  return {
    nativeSessionId: row.sessionId,
    activity: readActivity(row.status),
    hasBackgroundCommands: row.status === 'shell',
    waitingFor: row.waitingFor,
    startTime: row.procStart,
  };
}

function readActivity(status: string | undefined): RegistryEntry['activity'] {
  switch (status) {
    case 'idle':
    // A shell command goes on in the background; the composer takes messages.
    case 'shell':
      return 'idle';
    case 'busy':
    case 'waiting':
      return status;
    default:
      return 'unknown';
  }
}
