import * as z from 'zod';
import type { PayerSettings } from '../../spec/coding-adapter.js';

const settings = z.looseObject({ env: z.record(z.string(), z.unknown()).optional() });

/** Variables by which another account pays, or another address gets the requests. */
const FOREIGN =
  /^(ANTHROPIC_([A-Z_]*_)?(API_KEY|AUTH_TOKEN|BASE_URL|CUSTOM_HEADERS)|CLAUDE_CODE_(USE_[A-Z]+|OAUTH_TOKEN|SKIP_[A-Z]+_AUTH))$/;

const COMMANDS = ['apiKeyHelper', 'awsAuthRefresh', 'awsCredentialExport', 'gcpAuthRefresh'];

/** The CLI sets the variables of its settings over those it was started with, an endpoint's too. */
export const payerSettings: PayerSettings = {
  file: 'settings.json',
  findForeignPayer: (text) => {
    const parsed = settings.safeParse(parse(text));
    if (!parsed.success) return undefined;
    const variable = Object.keys(parsed.data.env ?? {}).find((name) => FOREIGN.test(name));
    return variable ?? COMMANDS.find((name) => parsed.data[name] !== undefined);
  },
};

/** What the CLI cannot read it does not use. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
