import type { Sha256 } from '../coding-job.js';
import { digestOfJson } from './canonical-json.js';
import { isUuid } from './uuid.js';

/** On whose behalf a thread is kept. */
export type ThreadOwner =
  | { readonly kind: 'workflow'; readonly processId: string }
  | { readonly kind: 'session'; readonly sessionId: string; readonly principal: string };

/** What a thread may never cross. The service knows all of it; a caller names none of it. */
export interface ThreadScopeParts {
  readonly host: string;
  /** The service's id. */
  readonly origin: string;
  readonly policy: Sha256;
  readonly boundary: Sha256;
  readonly owner: ThreadOwner;
}

/** The scope of a thread: another host, service, policy, boundary, process, session or principal is another one. */
export function digestScope({ host, origin, policy, boundary, owner }: ThreadScopeParts): Sha256 {
  for (const [name, part] of Object.entries({ host, origin })) {
    if (part === '') throw new TypeError(`The scope of a thread needs its ${name}.`);
  }
  return digestOfJson({ host, origin, policy, boundary, owner: nameOwner(owner) });
}

function nameOwner(owner: ThreadOwner): string {
  const id = owner.kind === 'workflow' ? owner.processId : owner.sessionId;
  if (!isUuid(id))
    throw new TypeError(`${JSON.stringify(id)} is no id of a ${owner.kind}; use a UUID.`);
  if (owner.kind === 'workflow') return `workflow:${id}`;
  if (owner.principal === '') throw new TypeError('A session has a principal.');
  return `session:${id}:${owner.principal}`;
}
