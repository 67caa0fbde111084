import { describe, expect, it } from 'vitest';
import type { CodingPlanRequest } from '../../spec/coding-adapter.js';
import { codingAdapter } from './coding-adapter.js';
import { planThreadResume, planThreadStart } from './launch.js';

const request: CodingPlanRequest = {
  role: 'implement',
  workTree: '/threads/one/work',
  scratch: '/threads/one/scratch',
  writableRoots: ['/threads/one/work'],
  ownFolders: ['/threads/one/state'],
  hiddenFolders: ['/threads'],
  permissions: { source: 'agent-policy', mode: 'managed' },
};
const review = { ...request, role: 'review', writableRoots: [] } as const;

const paramsOf = (given: CodingPlanRequest) => {
  const { config } = codingAdapter.plan(given);
  const started = planThreadStart({ config, trust: 'untrusted' }).params;
  const resumed = planThreadResume({ config, trust: 'untrusted', nativeSessionId: 'id' }).params;
  return [started, resumed];
};

describe('a coding session of Codex', () => {
  it('writes its roots and its temporary folder alone, and reaches nothing, after a resume too', () => {
    for (const params of paramsOf(request)) {
      expect(params).toMatchObject({
        cwd: '/threads/one/work',
        sandbox: 'workspace-write',
        approvalPolicy: 'never',
        config: {
          sandbox_workspace_write: {
            writable_roots: ['/threads/one/work', '/threads/one/scratch'],
            network_access: false,
            exclude_slash_tmp: true,
            exclude_tmpdir_env_var: true,
          },
        },
      });
    }
  });

  it('as a reviewer works and writes in its scratch folder', () => {
    for (const params of paramsOf({ ...review, writableRoots: ['/threads/one/work'] })) {
      expect(params).toMatchObject({
        cwd: '/threads/one/scratch',
        config: { sandbox_workspace_write: { writable_roots: ['/threads/one/scratch'] } },
      });
    }
  });

  it('says so where the sandbox is wider than the roots', () => {
    const narrow = { ...request, writableRoots: ['/threads/one/work/src'] };
    const wider = 'commands may write the whole work tree, beyond the writable roots';

    expect(codingAdapter.plan(narrow).unenforced).toContain(wider);
    expect(codingAdapter.plan(request).unenforced).not.toContain(wider);
    expect(codingAdapter.plan(review).unenforced).not.toContain(wider);
  });

  it('names neither sandbox nor approvals where the owner’s configuration decides', () => {
    const inherit = { source: 'codex-cli', mode: 'inherit' };

    for (const params of paramsOf({ ...request, permissions: inherit })) {
      expect(params).not.toHaveProperty('sandbox');
      expect(params).not.toHaveProperty('approvalPolicy');
      expect(params).not.toHaveProperty('config.sandbox_workspace_write');
    }
  });

  it('hears at a resume what the owner’s configuration says by then', () => {
    const inherit = { source: 'codex-cli', mode: 'inherit' };
    const resume = (given: CodingPlanRequest) =>
      planThreadResume({
        config: codingAdapter.plan(given).config,
        ...{ trust: 'untrusted', nativeSessionId: 'id' },
        ownConfig: { config: { sandbox_mode: 'danger-full-access', approval_policy: 'never' } },
      }).params;

    expect(resume({ ...request, permissions: inherit })).toMatchObject({
      sandbox: 'danger-full-access',
      approvalPolicy: 'never',
    });
    expect(resume(request)).toMatchObject({ sandbox: 'workspace-write' });
  });

  it('is free where its owner trusts it', () => {
    const permissions = { source: 'codex-cli', mode: 'trusted-personal-unattended' };

    for (const params of paramsOf({ ...request, permissions })) {
      expect(params).toMatchObject({ sandbox: 'danger-full-access', approvalPolicy: 'never' });
    }
  });

  it('takes no schema: the queue carries none', () => {
    const { config } = codingAdapter.plan({ ...review, outputSchema: { type: 'object' } });

    expect(config).not.toHaveProperty('outputSchema');
  });

  it('refuses a mode that its source does not have', () => {
    const permissions = { source: 'agent-policy', mode: 'inherit' };

    expect(() => codingAdapter.plan({ ...request, permissions })).toThrow(TypeError);
  });
});
