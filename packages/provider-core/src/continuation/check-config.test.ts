import { describe, expect, it } from 'vitest';
import type { ProviderDefinition } from '../spec/provider-definition.js';
import type { SessionConfig } from '../spec/session-config.js';
import { checkConfig, checkOptionsTaken } from './check-config.js';
import { listCandidates } from './choose-way.js';
import { stableDigests } from './stable-digests.js';

const workingDir = '/home/user/work';
const roots = (writableRoots: readonly string[], toolPolicy?: SessionConfig['toolPolicy']) => ({
  workingDir,
  writableRoots,
  toolPolicy,
});

describe('the check of a config', () => {
  it.each([
    roots(['src']),
    roots(['/w'], { permissions: 'read_only' }),
    roots(['/w'], { permissions: 'full' }),
    roots(['/w'], { permissions: 'edit', inherit: true }),
    { workingDir, cliHome: workingDir, launcher: [] },
    { workingDir, cliHome: workingDir, launcher: ['bwrap'] },
    { workingDir, launcher: ['/usr/bin/bwrap'] },
    { workingDir, outputSchema: [] as unknown as Record<string, unknown> },
  ])('refuses %j', (config) => {
    expect(() => checkConfig(config)).toThrow(TypeError);
  });

  it('takes what a session can be launched with', () => {
    expect(() =>
      checkConfig({
        ...roots([workingDir], { permissions: 'edit' }),
        launcher: ['/usr/bin/bwrap', '--'],
        cliHome: workingDir,
        outputSchema: { type: 'object' },
      }),
    ).not.toThrow();
  });
});

const definition = {
  id: 'stand-in',
  displayName: 'Stand-in',
  transports: { tmux: {}, structured: { takes: ['launcher'] } },
} as unknown as ProviderDefinition;

describe('an option that not every way takes', () => {
  const confined = { workingDir, launcher: ['/usr/bin/env'] };

  it('leaves the ways that take it', async () => {
    expect(() => checkOptionsTaken(definition, confined)).not.toThrow();
    expect(await listCandidates(definition, 'auto', confined)).toEqual(['structured']);
  });

  it('is a TypeError for a way that does not, and for a provider that has none', async () => {
    await expect(listCandidates(definition, 'tmux', confined)).rejects.toThrow(/config\.launcher/);
    const schema = { ...confined, outputSchema: {} };

    expect(() => checkOptionsTaken(definition, schema)).toThrow(/config\.outputSchema/);
  });
});

describe('the digest of what is allowed', () => {
  const digestOf = (config: Partial<SessionConfig>) =>
    stableDigests('stand-in', { workingDir, ...config }, ['tool_policy'])['tool_policy'];

  it('is the one of older handles where nothing newer is given', () => {
    expect(digestOf({})).toBe('592125cab87287cc2002481e74e79254313f2e0faa484a5c375b588eb705b2bf');
  });

  it('changes with roots, with a launcher that comes or goes, and with who decides', () => {
    const digests = [
      {},
      { writableRoots: [] },
      { writableRoots: ['/w'] },
      { launcher: ['/usr/bin/env'] },
      { toolPolicy: { permissions: 'ask', inherit: true } } as const,
    ].map(digestOf);

    expect(new Set(digests).size).toBe(digests.length);
    expect(digestOf({ launcher: ['/usr/bin/bwrap', '--'] })).toBe(digests[3]);
  });
});
