import type { RequestListener } from 'node:http';
import { type Clock, type Logger, StateUnusableError } from '@holdfast/agent';
import { keys } from '../persistence/keys.js';
import type { Store, StoreKey } from '../persistence/store.js';
import type { Lease } from '../persistence/store-lease.js';
import { encodeSlotPort, findSlotPort } from './bridge-records.wire.js';
import {
  type LoopbackServer,
  listenAgainAt,
  listenAnywhere,
  listenAt,
} from './listen-on-loopback.js';

/** What the slots of one builder are made of. */
export interface AddressSlotsOptions {
  readonly store: Store;
  readonly listener: RequestListener;
  readonly clock: Clock;
  readonly logger?: Logger | undefined;
  /** How long between two looks for the slots of dead peers. */
  readonly pollMs: number;
}

/**
 * The addresses of one data directory. Each is a slot: a port on disk, and a lease of the process that serves it. Every
 * builder serves one of its own, and those of peers that are gone, so that a session reaches the address it was launched with.
 */
export interface AddressSlots extends AsyncDisposable {
  /** The port to launch sessions with. */
  readonly port: () => number;
  /** Every port that is served here. */
  readonly served: () => readonly number[];
}

interface Slot {
  readonly lease: Lease;
  readonly server: LoopbackServer;
}

interface SlotsContext extends AddressSlotsOptions {
  readonly signal: AbortSignal;
  /** Those served here, by name. */
  readonly slots: Map<string, Slot>;
  /** Whose port a stranger has; told once. */
  readonly blocked: Set<string>;
}

const MAX_SLOTS = 16;

/** Takes the first slot that is free, makes one where none is, and looks after those of dead peers until it is disposed. */
export async function openAddressSlots(options: AddressSlotsOptions): Promise<AddressSlots> {
  const closing = new AbortController();
  const { signal } = closing;
  const context: SlotsContext = { ...options, signal, slots: new Map(), blocked: new Set() };
  const own = (await takeOwnSlot(context)) ?? (await readPeerPort(context));
  const watching = watchPeers(context);
  return {
    port: () => own,
    served: () => [...context.slots.values()].map(({ server }) => server.port),
    [Symbol.asyncDispose]: async () => {
      closing.abort();
      await watching;
      await Promise.all([...context.slots.keys()].map((name) => giveUp(context, name)));
    },
  };
}

/** The port of the first free slot; `undefined` when living peers hold all there may be. */
async function takeOwnSlot(context: SlotsContext): Promise<number | undefined> {
  for (let number = 0; number < MAX_SLOTS; number += 1) {
    const name = String(number);
    const lease = await takeLease(context, name);
    if (!lease) continue;
    const server = await serveOwn(context, name, lease).catch(async (error: unknown) => {
      await lease.release();
      throw error;
    });
    context.slots.set(name, { lease, server });
    return server.port;
  }
  return undefined;
}

/** Listens where the slot always was; only a port that somebody else took is replaced. */
async function serveOwn(
  context: SlotsContext,
  name: string,
  lease: Lease,
): Promise<LoopbackServer> {
  const { listener, store, logger } = context;
  const known = await findPort(context, name);
  const again = known === undefined ? undefined : await listenAgainAt(known, listener, context);
  if (again) return again;
  const server = await listenAnywhere(listener);
  if (known !== undefined) {
    logger?.error(
      { slot: name, port: known, new_port: server.port },
      'address taken by a stranger',
    );
  }
  try {
    await store.write(recordKey(name), encodeSlotPort(server.port), { lease });
    return server;
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

/** With every slot in use, sessions are launched with a peer's address; it is adopted should that peer die. */
async function readPeerPort(context: SlotsContext): Promise<number> {
  for (let number = 0; number < MAX_SLOTS; number += 1) {
    const port = await findPort(context, String(number));
    if (port !== undefined) return port;
  }
  throw new StateUnusableError('bridge/slots', 'damaged', 'no slot names a port.');
}

async function watchPeers(context: SlotsContext): Promise<void> {
  const { clock, pollMs, signal, logger } = context;
  while (!signal.aborted) {
    try {
      await clock.sleep(pollMs, signal);
      await lookOnce(context);
    } catch (error) {
      if (signal.aborted) return;
      logger?.warn({ error: String(error) }, 'slots of peers not looked at');
    }
  }
}

async function lookOnce(context: SlotsContext): Promise<void> {
  for (const [name, { lease }] of context.slots) {
    if (!lease.isCurrent()) await giveUp(context, name);
  }
  for (const file of await context.store.list(keys.bridge('slots'))) {
    context.signal.throwIfAborted();
    const [, name] = /^(\d+)\.json$/.exec(file) ?? [];
    if (name !== undefined && !context.slots.has(name)) await adopt(context, name);
  }
}

async function adopt(context: SlotsContext, name: string): Promise<void> {
  const lease = await takeLease(context, name, true);
  if (!lease) return;
  const port = await findPort(context, name);
  const server = port === undefined ? undefined : await listenAt(port, context.listener);
  if (server) {
    context.slots.set(name, { lease, server });
    context.blocked.delete(name);
    context.logger?.info({ slot: name, port }, 'address of a peer taken over');
    return;
  }
  await lease.release();
  // A new port would help nobody: sessions know the old one. It is tried again at the next look.
  if (!context.blocked.has(name)) context.logger?.warn({ slot: name, port }, 'address not served');
  context.blocked.add(name);
}

/**
 * The lease of a slot whose owner is gone. An owner that cannot be seen from here, on another machine or in a container
 * that is no more, must be waited for: only `adopt` has the time.
 */
async function takeLease(
  { store, signal }: SlotsContext,
  name: string,
  mayWait = false,
): Promise<Lease | undefined> {
  const key = keys.bridge('leases', name);
  const { state } = await store.observe(key);
  if (state === 'held' || (state === 'unknown' && !mayWait)) return undefined;
  return (await store.acquire(key, { signal })).lease;
}

async function findPort({ store }: SlotsContext, name: string): Promise<number | undefined> {
  const read = await store.read(recordKey(name));
  return read.state === 'present' ? findSlotPort(read.value) : undefined;
}

function recordKey(name: string): StoreKey {
  return keys.bridge('slots', `${name}.json`);
}

async function giveUp(context: SlotsContext, name: string): Promise<void> {
  const slot = context.slots.get(name);
  context.slots.delete(name);
  await slot?.server[Symbol.asyncDispose]();
  await slot?.lease.release();
}
