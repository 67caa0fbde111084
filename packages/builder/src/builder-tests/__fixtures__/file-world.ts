import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MemorySessions, type MemoryWorld } from '../../__fixtures__/memory-sessions.js';

type Session = MemoryWorld['sessions'] extends Map<string, infer Value> ? Value : never;

/** Text on disk by id, so that every process sees what another one wrote. */
class FileMap<Value> extends Map<string, Value> {
  readonly #codec: Codec<Value>;
  readonly #folder: string;

  constructor(folder: string, codec: Codec<Value>) {
    super();
    this.#folder = folder;
    this.#codec = codec;
    mkdirSync(folder, { recursive: true });
  }

  override get(id: string): Value | undefined {
    try {
      const value = this.#codec.decode(JSON.parse(readFileSync(join(this.#folder, id), "utf8")) as never);
      super.set(id, value);
      return value;
    } catch {
      return undefined;
    }
  }

  override has(id: string): boolean {
    return this.get(id) !== undefined;
  }

  override set(id: string, value: Value): this {
    // The map's own constructor sets nothing, so that the folder is there.
    const place = join(this.#folder, id);
    writeFileSync(`${place}.${process.pid}`, JSON.stringify(this.#codec.encode(value)));
    renameSync(`${place}.${process.pid}`, place);
    return super.set(id, value);
  }
}

interface Codec<Value> {
  readonly encode: (value: Value) => unknown;
  readonly decode: (json: never) => Value; // each codec reads what it wrote
}

const sessionCodec: Codec<Session> = {
  encode: (session) => ({ ...session, turns: [...session.turns] }),
  decode: (json: Session & { turns: Iterable<readonly [string, never]> }) => ({
    ...json,
    turns: new Map(json.turns),
  }),
};

/**
 * A model that several processes share, in a folder that outlives them. Its log tells each message once it was taken in, and
 * `overlap` where a turn began in a session while another living process had one there.
 */
export function openFileWorld(folder: string): MemorySessions {
  const sessions = new FileMap(join(folder, 'sessions'), sessionCodec);
  const starts = new FileMap<string>(join(folder, 'starts'), {
    encode: (id) => id,
    decode: (id: string) => id,
  });
  const model = new MemorySessions({ sessions, starts });
  const log = (...words: readonly unknown[]) =>
    appendFileSync(join(folder, 'log'), `${words.join(' ')}\n`);
  const find = (turnId: string) =>
    [...sessions.entries()].find(([, session]) => session.turns.has(turnId));
  model.onStep = async (step, turnId) => {
    const [id, session] = find(turnId) ?? [];
    if (id === undefined || !session) throw new Error('unreachable: the turn is in a session');
    const mark = join(folder, `running-${id}`);
    if (step === 'ended') {
      sessions.set(id, session);
      rmSync(mark, { force: true });
      return;
    }
    const holder = readMark(mark);
    if (holder !== undefined && holder !== process.pid && isAlive(holder)) log('overlap', id, turnId);
    writeFileSync(mark, String(process.pid));
    if (step !== 'accepted') return;
    const text = session.turns.get(turnId)?.message ?? '';
    log('accepted', turnId, process.pid, JSON.stringify(text.split('\n')[0]));
    sessions.set(id, session);
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
  };
  return model;
}

function readMark(path: string): number | undefined {
  try {
    return Number(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
