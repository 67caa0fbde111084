import type { Store, StoreKey } from '../store.js';

/** A store under test, with what may befall it from outside. Disposing of it closes every store it opened. */
export interface StoreSubject extends AsyncDisposable {
  /** One more store on the same data, as another process would open it. */
  readonly open: () => Promise<Store>;
  /** Puts at a key what no reader can understand, as a power cut may. */
  readonly damage: (key: StoreKey) => Promise<void>;
  /** Leaves half an entry at a log's end, as a crash may; nothing where an append is all or nothing anyway. */
  readonly tear: (log: StoreKey) => Promise<void>;
  /** Lets another process take a lease and kills it by SIGKILL while it holds it. Resolves once it is dead. */
  readonly takeAndDie: (key: StoreKey) => Promise<void>;
}

/** One promise of the port and its proof. */
export interface StoreCase {
  readonly title: string;
  readonly prove: (subject: StoreSubject) => Promise<void>;
}
