import { findForeignPayer } from '@holdfast/agent';
import { CodingThreadError } from '../coding-thread-error.js';
import type { ValidatedJob } from './job-run.js';

/**
 * A job that a personal subscription is to pay for is not begun where the CLI's own settings have another pay, or send its
 * texts elsewhere: `runner_unfit`, which names the setting. Only looks.
 */
export async function checkPayer({ spec }: Pick<ValidatedJob, 'spec'>): Promise<void> {
  if (spec.trusted.authenticationProfile !== 'personal-subscription') return;
  const { cliHome, endpoint } = spec.cli;
  const config = { cliHome, endpoint: endpoint && { baseUrl: endpoint.baseUrl } };
  const setting = await findForeignPayer(spec.adapterId, config);
  if (setting === undefined) return;
  throw new CodingThreadError(
    'runner_unfit',
    `The CLI's own settings would have another pay for this job (${setting}); take that out, or give the runner a home of its own.`,
    { evidence: { setting } },
  );
}
