import type { StartPlan } from '../../spec/served-pane.js';
import type { OpenParts } from './open-served-session.js';

/** What a start and a resume are planned from, save for the trust. */
export function planOf({ context, request }: OpenParts): Omit<StartPlan, 'trust'> {
  return { config: context.config, answersRequests: request.answersRequests };
}
