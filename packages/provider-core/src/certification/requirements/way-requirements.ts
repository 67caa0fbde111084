import { autoTransport } from '../cases/auto-transport.js';
import { mixedTextBlocked } from '../cases/mixed-text-blocked.js';
import { personsDraftKept } from '../cases/persons-draft-kept.js';
import { sessionIdChange } from '../cases/session-id-change.js';
import { structuredWithoutTmux } from '../cases/structured-without-tmux.js';
import { transportMove } from '../cases/transport-move.js';
import { virginHome } from '../cases/virgin-home.js';
import { isTypedInto, type Requirement } from './requirement.js';

/** What holds of one way to drive a provider, or between two of them. */
export const wayRequirements = {
  CertSessionIdChange: {
    behaviour: 'A page that moves the session to another id never gets the message.',
    requiredBy: isTypedInto,
    prove: sessionIdChange,
    covers: ['B01', 'B72'],
  },
  CertPersonsDraftKept: {
    behaviour: 'A draft that a person left makes the session busy and is kept.',
    requiredBy: isTypedInto,
    prove: personsDraftKept,
    covers: ['B63'],
  },
  CertMixedTextBlocked: {
    behaviour: 'A text that holds ours and what a person added is blocked.',
    requiredBy: isTypedInto,
    prove: mixedTextBlocked,
    covers: ['B54', 'B63'],
  },
  CertVirginHome: {
    behaviour: 'A CLI that was never set up ends in `blocked`, and nothing is pressed.',
    requiredBy: isTypedInto,
    prove: virginHome,
    covers: ['B72'],
  },
  CertStructuredWithoutTmux: {
    behaviour: 'Where tmux is not installed, `auto` takes this way, and it works whole.',
    requiredBy: ({ way }) => way === 'structured',
    prove: structuredWithoutTmux,
  },
  CertTransportMove: {
    behaviour: 'A session moves between a pane and the protocol; nothing is sent twice.',
    requiredBy: ({ way, ways }) => way === 'structured' && ways.includes('tmux'),
    prove: transportMove,
  },
  CertAutoTransport: {
    behaviour: 'What a pane cannot take exactly goes through the protocol, between turns.',
    requiredBy: ({ way, paneDriver }) => way === 'structured' && paneDriver === 'typed_pane',
    prove: autoTransport,
  },
} as const satisfies Record<`Cert${string}`, Requirement>;
