import { NonApplicableError } from '../errors/continuation-error.js';
import type { ProviderDefinition } from '../spec/provider-definition.js';
import { createServedPaneTransport } from '../transports/served-pane/served-pane-transport.js';
import type { SessionTransport } from '../transports/session-transport.js';
import { createTypedPaneTransport } from '../transports/typed-pane/typed-pane-transport.js';

const made = new WeakMap<ProviderDefinition, SessionTransport>();

/** The transport that acts on a provider's declaration; the same one for every session of a process. */
export function transportOf(definition: ProviderDefinition): SessionTransport {
  const found = made.get(definition);
  if (found) return found;
  const transport = makeTransport(definition);
  made.set(definition, transport);
  return transport;
}

function makeTransport(definition: ProviderDefinition): SessionTransport {
  const way = definition.transports.tmux;
  switch (way?.kind) {
    case 'typed_pane':
      return createTypedPaneTransport(way);
    case 'served_pane':
      return createServedPaneTransport(way);
    case undefined:
      throw new NonApplicableError(definition.id);
  }
}
