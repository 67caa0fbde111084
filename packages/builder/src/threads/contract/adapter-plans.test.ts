import { type CodingPlan, type CodingPlanRequest, listCodingAdapters } from '@holdfast/agent';
import { describe, expect, it } from 'vitest';

const folder = '/srv/threads/0123';
const request: Omit<CodingPlanRequest, 'permissions'> = {
  role: 'implement',
  workTree: `${folder}/work`,
  scratch: `${folder}/scratch`,
  writableRoots: [`${folder}/work`],
  ownFolders: [`${folder}/state`],
  hiddenFolders: ['/srv/threads/4567'],
};

type Change = Partial<Omit<CodingPlanRequest, 'permissions'>>;

/** Every mode of every declared adapter. */
const modes = listCodingAdapters().flatMap(({ adapter }) =>
  Object.entries(adapter.permissionModes).flatMap(([source, list]) =>
    list.map((mode) => ({
      name: `${adapter.adapterId} ${source} ${mode}`,
      source,
      mode,
      isFirst: list[0] === mode,
      plan: (change: Change = {}): CodingPlan =>
        adapter.plan({ ...request, permissions: { source, mode }, ...change }),
    })),
  ),
);

const ofService = modes.filter(({ source, isFirst }) => source === 'agent-policy' && isFirst);

describe('the plan of a coding session', () => {
  it('is one launch for each source and mode, the same each time', () => {
    expect(modes.length).toBeGreaterThanOrEqual(8);
    for (const { name, plan } of modes) {
      expect(plan(), name).toEqual(plan());
      const { model, cliHome, endpoint, binary } = plan().config;
      expect([model, cliHome, endpoint, binary], name).toEqual(Array(4).fill(undefined));
    }
    for (const { adapter } of listCodingAdapters()) {
      for (const [source, mode] of [
        ['agent-policy', 'inherit'],
        ['agent-policy', 'managed-too'],
        ['nobody', 'managed'],
        ['toString', ''],
      ] as const) {
        expect(() => adapter.plan({ ...request, permissions: { source, mode } })).toThrow(
          TypeError,
        );
      }
    }
  });

  it('leaves it to the owner where a mode inherits, and overrides nothing there', () => {
    const inheriting = modes.filter(({ mode }) => mode === 'inherit');
    expect(inheriting.map(({ source }) => source)).not.toContain('agent-policy');
    expect(inheriting).toHaveLength(listCodingAdapters().length);
    for (const { name, plan } of modes) {
      const { toolPolicy, writableRoots } = plan().config;
      const isInherited = inheriting.some((one) => one.name === name);
      expect(toolPolicy?.inherit === true, name).toBe(isInherited);
      if (!isInherited) continue;
      expect([toolPolicy?.allow, toolPolicy?.deny, writableRoots], name).toEqual(
        Array(3).fill(undefined),
      );
    }
  });

  it('is free to do anything only where a mode says so by its name', () => {
    for (const { name, mode, plan } of modes) {
      const isFree = plan().config.toolPolicy?.permissions === 'full';
      expect(isFree, name).toBe(
        /^(inherit|bypassPermissions|trusted-personal-unattended)$/.test(mode),
      );
      if (isFree) expect(plan().unenforced.length, name).toBeGreaterThan(0);
    }
  });

  it('puts a reviewer into its scratch folder, and lets the service policy write nowhere else', () => {
    for (const { name, plan } of modes) {
      expect(plan({ role: 'review' }).config.workingDir, name).toBe(request.scratch);
      expect(plan().config.workingDir, name).toBe(request.workTree);
    }
    for (const { name, plan } of ofService) {
      const { toolPolicy, writableRoots } = plan({ role: 'review' }).config;
      const mayEdit = toolPolicy?.permissions === 'edit';
      // Edits go no further than the working directory; commands need a sandbox of the CLI's own for that.
      expect(mayEdit ? writableRoots : toolPolicy?.deny, name).toEqual(
        mayEdit ? [request.scratch] : expect.arrayContaining(['Bash', 'Edit', 'Write']),
      );
      expect(JSON.stringify(toolPolicy?.allow ?? []), name).not.toContain('Write(');
    }
  });

  it('hides other threads and binds the work tree read-only for a reviewer, where a namespace is made', () => {
    const launchers = modes.flatMap(({ name, plan }) => {
      const of = (role: 'implement' | 'review') =>
        plan({ role, bubblewrap: '/usr/bin/bwrap' }).config.launcher?.join(' ');
      const [implement, review] = [of('implement'), of('review')];
      return implement && review ? [{ name, implement, review }] : [];
    });
    expect(launchers.length).toBeGreaterThan(0);
    for (const { name, implement, review } of launchers) {
      for (const launcher of [implement, review]) {
        expect(launcher, name).toMatch(/^\/usr\/bin\/bwrap .* --$/);
        expect(launcher, name).toContain('--ro-bind / /');
        expect(launcher, name).toContain('--tmpfs /srv/threads/4567');
        expect(launcher, name).toContain(` --bind ${folder}/scratch ${folder}/scratch`);
        // The CLI's own list of its processes names pids.
        expect(launcher, name).not.toContain('--unshare-pid');
      }
      expect(review, name).toContain(`--ro-bind ${folder}/work ${folder}/work`);
      expect(review, name).not.toContain(` --bind ${folder}/work `);
      expect(implement, name).toContain(` --bind ${folder}/work ${folder}/work`);
    }
    for (const { name, plan } of modes) {
      expect(plan().config.launcher, name).toBeUndefined();
    }
  });
});
