import { NonApplicableError } from '../errors/continuation-error.js';
import { declarationOf, type WayDeclaration } from '../providers/ways.js';
import type { Way } from '../spec/capabilities.js';
import type { ProviderDefinition } from '../spec/provider-definition.js';
import { createServedPaneTransport } from '../transports/served-pane/served-pane-transport.js';
import type { SessionTransport } from '../transports/session-transport.js';
import { createStreamProcessTransport } from '../transports/stream-process/stream-process-transport.js';
import { createTurnProcessTransport } from '../transports/turn-process/turn-process-transport.js';
import { createTypedPaneTransport } from '../transports/typed-pane/typed-pane-transport.js';

const made = new WeakMap<WayDeclaration, SessionTransport>();

/** The transport that acts on a provider's declaration of a way; the same one for every session of a process. */
export function transportOf(definition: ProviderDefinition, way: Way): SessionTransport {
  const declaration = declarationOf(definition, way);
  if (!declaration) throw new NonApplicableError(definition.id, `cannot be driven by ${way}`);
  const found = made.get(declaration);
  if (found) return found;
  const transport = makeTransport(declaration);
  made.set(declaration, transport);
  return transport;
}

function makeTransport(declaration: WayDeclaration): SessionTransport {
  switch (declaration.kind) {
    case 'typed_pane':
      return createTypedPaneTransport(declaration);
    case 'served_pane':
      return createServedPaneTransport(declaration);
    case 'stream_process':
      return createStreamProcessTransport(declaration);
    case 'turn_process':
      return createTurnProcessTransport(declaration);
  }
}
