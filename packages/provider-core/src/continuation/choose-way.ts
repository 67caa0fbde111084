import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { NonContinuableError } from '../errors/continuation-error.js';
import { UndeliverableMessageError } from '../errors/turn-error.js';
import {
  capabilitiesOf,
  declarationOf,
  findOptionsNotTaken,
  holdsFor,
  takesConfig,
} from '../providers/ways.js';
import type { Way } from '../spec/capabilities.js';
import type { ProviderDefinition } from '../spec/provider-definition.js';
import type { SessionConfig } from '../spec/session-config.js';
import type { OutgoingMessage } from './outgoing-message.js';
import type { Session } from './session.js';

/** What a caller asks for; `auto` is a pane where it can take the message exactly, the CLI's protocol otherwise. */
export type TransportChoice = 'auto' | 'tmux' | 'structured';

/**
 * The ways a choice allows, best first. Throws `non_continuable` (`transport`) when the provider has none of them.
 */
export async function listCandidates(
  definition: ProviderDefinition,
  choice: TransportChoice,
  config: SessionConfig,
): Promise<readonly [Way, ...Way[]]> {
  const { processLifetime } = config;
  const structured: Way = processLifetime === 'turn' ? 'per_turn' : 'structured';
  const wanted = await wantedWays(choice, structured, processLifetime === 'turn');
  const there = wanted.filter((way) => declarationOf(definition, way));
  const [first, ...rest] = there.filter((way) => takesConfig(definition, way, config));
  if (first) return [first, ...rest];
  if (there.length > 0) throw optionsNotTaken(definition, config, there);
  throw new NonContinuableError(
    definition.id,
    'transport',
    choice === 'auto'
      ? 'tmux is not installed, and it has no other way'
      : `${choice} is not claimed${processLifetime === 'turn' ? ' with a process for each turn' : ''}`,
  );
}

function optionsNotTaken(
  definition: ProviderDefinition,
  config: SessionConfig,
  ways: readonly Way[],
): TypeError {
  const options = findOptionsNotTaken(definition, config, ways).map((name) => `config.${name}`);
  return new TypeError(
    `${definition.displayName} cannot be launched with ${options.join(' and ')} in this way (${ways.join(', ')}).`,
  );
}

async function wantedWays(
  choice: TransportChoice,
  structured: Way,
  isPerTurn: boolean,
): Promise<readonly Way[]> {
  if (choice === 'tmux') return ['tmux'];
  if (choice === 'structured' || isPerTurn) return [structured];
  return isTmuxInstalled() ? ['tmux', structured] : [structured];
}

/** The first of the ways that can take the message exactly; refuses it, before anything is sent, when none can. */
export async function wayForMessage(
  session: Session,
  choice: TransportChoice,
  message: OutgoingMessage,
): Promise<Way> {
  if (message.text === '' && message.images.length === 0) {
    throw new UndeliverableMessageError('empty', 'An empty message starts no turn.');
  }
  const ways = await listCandidates(session.definition, choice, session.record.config);
  let refusal: { readonly reason: string; readonly detail: string } | undefined;
  for (const way of ways) {
    const found =
      findImageRefusal(session, way, message) ?? (await findRefusal(session, way, message));
    if (!found) return way;
    refusal ??= found;
  }
  if (!refusal) throw new Error('unreachable: there is at least one way');
  throw new UndeliverableMessageError(refusal.reason, refusal.detail);
}

function findRefusal(session: Session, way: Way, { text, images }: OutgoingMessage) {
  return session.transportFor(way).findRefusal(session.context(), text, images);
}

/** A way that does not claim images would drop them. */
function findImageRefusal(
  { definition, cliVersion }: Session,
  way: Way,
  { images }: OutgoingMessage,
): { readonly reason: string; readonly detail: string } | undefined {
  const { verbs } = capabilitiesOf(definition, way);
  if (images.length === 0 || holdsFor(verbs.images, cliVersion)) return undefined;
  const detail = `${definition.displayName} takes no image in this way (${way}).`;
  return { reason: 'unsupported_image', detail };
}

/** Whether a `tmux` stands on PATH; asked anew each time, since it can be installed while we run. */
function isTmuxInstalled(): boolean {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.some((folder) => isAbsolute(folder) && isExecutable(join(folder, 'tmux')));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
