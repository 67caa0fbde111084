import { permissionsAfterResume } from '../cases/permissions-after-resume.js';
import { semanticDigests } from '../cases/semantic-digests.js';
import { stableAccount } from '../cases/stable-account.js';
import { stableMcpConfig } from '../cases/stable-mcp-config.js';
import { stableModel } from '../cases/stable-model.js';
import { stableProvider } from '../cases/stable-provider.js';
import { stableSystemPrompt } from '../cases/stable-system-prompt.js';
import { stableWorkingDir } from '../cases/stable-working-dir.js';
import { continues, keeps, type Requirement } from './requirement.js';

/** What must stay the same across the turns of one session, and what need not. */
export const stableRequirements = {
  CertStableWorkingDir: {
    behaviour: 'Another working directory is a stale handle.',
    requiredBy: (claims) =>
      claims.capabilities.requiresStableWorkingDir && keeps('working_dir')(claims),
    prove: stableWorkingDir,
    covers: ['B11', 'B12'],
  },
  CertStableAccount: {
    behaviour: 'Another CLI home is a stale handle.',
    requiredBy: keeps('account'),
    prove: stableAccount,
  },
  CertStableProvider: {
    behaviour: 'Another provider in the handle is a stale handle.',
    requiredBy: keeps('provider'),
    prove: stableProvider,
  },
  CertStableModel: {
    behaviour: 'A resume asks the same model, and another model is a stale handle.',
    requiredBy: keeps('model', 'model'),
    prove: stableModel,
  },
  CertStableSystemPrompt: {
    behaviour: 'The system prompt is in force after a resume, and another one is a stale handle.',
    requiredBy: keeps('system_prompt', 'systemPrompt'),
    prove: stableSystemPrompt,
  },
  CertStableMcpConfig: {
    behaviour: 'The MCP servers are offered after a resume, and other servers are a stale handle.',
    requiredBy: keeps('mcp_config', 'mcpServers'),
    prove: stableMcpConfig,
    covers: ['B118'],
  },
  CertPermissionsAfterResume: {
    behaviour:
      'Permissions after a resume are those before, and a looser policy is a stale handle.',
    requiredBy: keeps('tool_policy', 'permissions'),
    prove: permissionsAfterResume,
    covers: ['B115', 'B117'],
  },
  CertSemanticDigests: {
    behaviour: 'A new trace id, another order of keys and rotated secrets make no handle stale.',
    requiredBy: (claims) => continues(claims) && keeps('mcp_config')(claims),
    prove: semanticDigests,
  },
} as const satisfies Record<`Cert${string}`, Requirement>;
