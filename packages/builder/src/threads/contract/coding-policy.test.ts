import { listCodingAdapters } from '@holdfast/agent';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { adapter, refusalOf } from './__fixtures__/adapters.js';
import { decodePolicy, digestPolicy } from './coding-policy.wire.js';

const { permissionModes } = adapter;
const policy = { permissionSource: 'agent-policy', permissionMode: 'managed' };
const at = (path: string) => expect.objectContaining({ path });

const readings = (change: object, modes = permissionModes) =>
  refusalOf('runner_unfit', () => decodePolicy({ ...policy, ...change }, modes));

describe('a policy', () => {
  it('is fail-closed by source and mode: each source has its own modes and no other', () => {
    const sources = Object.entries(permissionModes);
    const modes = [...new Set(sources.flatMap(([, list]) => list)), 'bypass', 'Managed'];
    for (const [permissionSource, own] of [
      ...sources,
      ['another-cli', [] as readonly string[]] as const,
    ]) {
      for (const permissionMode of modes) {
        const answer = readings({ permissionSource, permissionMode });
        if (own.includes(permissionMode)) expect(answer).toBe('taken');
        else if (own.length > 0) expect(answer).toEqual(at('permissionMode'));
        else expect(answer).toEqual(at('permissionSource'));
      }
    }
    expect(readings({ permissionSource: 'constructor' })).toEqual(at('permissionSource'));
  });

  it('is fail-closed by model: 1 to 32 that may be named, the default among them', () => {
    const models = (count: number) => Array.from({ length: count }, (_, at) => `model-${at}`);
    expect(readings({ allowedModels: models(32), defaultModel: 'model-31' })).toBe('taken');
    for (const allowedModels of [[], models(33), ['a', 'a']]) {
      expect(readings({ allowedModels })).toEqual(at('allowedModels'));
    }
    for (const name of ['-flag', '', 'a b', 'x'.repeat(129)]) {
      expect(readings({ allowedModels: [name] })).toEqual(at('allowedModels.0'));
    }
    expect(readings({ allowedModels: ['a'], defaultModel: 'b' })).toEqual(at('defaultModel'));
    expect(readings({ defaultModel: 'a' })).toEqual(at('defaultModel'));
  });

  it('is a closed shape, of version 1 and for nobody who could be asked', () => {
    expect(decodePolicy(policy, permissionModes)).toEqual({
      ...policy,
      schemaVersion: 1,
      interaction: 'unattended',
    });
    expect(readings({ schemaVersion: 2 })).toEqual(at('schemaVersion'));
    expect(readings({ interaction: 'interactive' })).toEqual(at('interaction'));
    for (const name of ['sandbox', 'approvalPolicy', 'tools', 'dangerouslySkipPermissions']) {
      expect(readings({ [name]: 'x' })).toEqual({ path: name, rule: 'is unknown' });
    }
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const read = () => decodePolicy(value, permissionModes);
        expect(refusalOf('runner_unfit', read)).not.toBe('taken');
      }),
    );
  });

  it('has one digest, in whatever order its models are named', () => {
    const one = decodePolicy({ ...policy, allowedModels: ['a', 'b'] }, permissionModes);
    const same = decodePolicy({ allowedModels: ['b', 'a'], ...policy }, permissionModes);
    const other = decodePolicy({ ...policy, allowedModels: ['a'] }, permissionModes);
    expect(digestPolicy(same)).toBe(digestPolicy(one));
    expect(digestPolicy(other)).not.toBe(digestPolicy(one));
  });

  it('has a mode of the service itself for each declared adapter, none of which inherits from the owner', () => {
    for (const { adapter: declared } of listCodingAdapters()) {
      const modes = declared.permissionModes['agent-policy'];
      expect(modes?.length, declared.adapterId).toBeGreaterThan(0);
      expect(modes).not.toContain('inherit');
      const [permissionMode] = modes ?? [];
      expect(readings({ permissionMode }, declared.permissionModes)).toBe('taken');
    }
  });
});
