import type { Claims } from './claims.js';
import type { Requirement } from './requirements/requirement.js';
import { sessionRequirements } from './requirements/session-requirements.js';
import { stableRequirements } from './requirements/stable-requirements.js';
import { turnRequirements } from './requirements/turn-requirements.js';
import { wayRequirements } from './requirements/way-requirements.js';

/** Every certification, by its id. */
export const requirements = {
  ...sessionRequirements,
  ...stableRequirements,
  ...turnRequirements,
  ...wayRequirements,
};

/** The id of a certification. */
export type CertificationId = keyof typeof requirements;

/** The requirements that these claims make binding. */
export function listBoundRequirements(claims: Claims): readonly [CertificationId, Requirement][] {
  return certificationIds
    .map((id): [CertificationId, Requirement] => [id, requirements[id]])
    .filter(([, { requiredBy }]) => requiredBy(claims));
}

/** Every certification id, in the order of the table. */
export const certificationIds = Object.keys(requirements).filter(isCertificationId);

/** The publicly reported cases whose right outcome a certification asserts. */
export function casesOf(id: CertificationId): readonly string[] {
  const requirement: Requirement = requirements[id];
  return requirement.covers ?? [];
}

function isCertificationId(id: string): id is CertificationId {
  return id in requirements;
}
