import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SessionConfig } from '../spec/session-config.js';
import * as builtIn from './index.js';
import { declarationOf, listWays, type WayDeclaration } from './ways.js';

const ways = Object.values(builtIn).flatMap((definition) =>
  listWays(definition).map((way) => ({ id: definition.id, way, definition })),
);

const environments = fc.dictionary(fc.stringMatching(/^[A-Z_]{1,8}$/), fc.string());
const mcpServers = fc.dictionary(
  fc.stringMatching(/^[a-z]{1,8}$/),
  fc.record({
    command: fc.string({ minLength: 1 }),
    args: fc.array(fc.string()),
    env: environments,
  }),
);
const configs: fc.Arbitrary<SessionConfig> = fc.record(
  {
    workingDir: fc.stringMatching(/^\/[a-z]{1,8}\/[ a-z]{1,8}$/),
    model: fc.stringMatching(/^[a-z0-9-]{1,12}$/),
    systemPrompt: fc.string(),
    mcpServers,
    toolPolicy: fc.record({
      permissions: fc.constantFrom(
        'read_only' as const,
        'ask' as const,
        'edit' as const,
        'full' as const,
      ),
    }),
    effort: fc.constantFrom('low' as const, 'medium' as const, 'high' as const),
    trustWorkingDir: fc.boolean(),
  },
  { requiredKeys: ['workingDir'] },
);

describe('a plan made from a handle', () => {
  it('is asked of every provider in every way it has', () => {
    expect(ways.map(({ id, way }) => `${id} ${way}`)).toContain('codex-cli per_turn');
    expect(new Set(ways.map(({ id }) => id)).size).toBe(Object.keys(builtIn).length);
  });

  it.each(ways)(
    'B21: of $id in $way names its native id once, whatever the config',
    ({ way, definition }) => {
      fc.assert(
        fc.property(configs, fc.uuid(), (config, nativeSessionId) => {
          for (const named of plansOf(declarationOf(definition, way), config, nativeSessionId)) {
            expect(named.filter((part) => part === nativeSessionId)).toHaveLength(1);
          }
        }),
      );
    },
  );

  it.each(ways)(
    'B24: of $id in $way holds no id but the one it was given',
    ({ way, definition }) => {
      fc.assert(
        fc.property(configs, fc.uuid(), (config, nativeSessionId) => {
          const plans = plansOf(declarationOf(definition, way), config, nativeSessionId);
          const ids = JSON.stringify(plans).match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g);
          expect(new Set(ids)).toEqual(new Set([nativeSessionId]));
        }),
      );
    },
  );
});

/** All that a way starts or asks for to bring a session back, each as its parts. */
function plansOf(
  declaration: WayDeclaration | undefined,
  config: SessionConfig,
  nativeSessionId: string,
): readonly (readonly unknown[])[] {
  const cliHome = '/home/dev/.cli';
  switch (declaration?.kind) {
    case 'typed_pane':
    case 'stream_process':
      return [false, true].map(
        (finishInterruptedTurn) =>
          declaration.launch({
            config,
            cliHome,
            nativeSessionId,
            finishInterruptedTurn,
            resume: true,
            cliVersion: '9.9.9',
            filesDir: '/home/dev/files',
          }).args,
      );
    case 'served_pane': {
      const { params } = declaration.protocol.resumeSession({
        config,
        nativeSessionId,
        trust: undefined,
      });
      const pane = declaration.paneLaunch?.({ cliHome, nativeSessionId, socketPath: '/run/s' });
      return [Object.values(params ?? {}), ...(pane ? [pane.args] : [])];
    }
    case 'turn_process':
      return [declaration.turnLaunch({ config, cliHome, nativeSessionId, images: [] }).args];
    case undefined:
      throw new Error('unreachable: a listed way is declared');
  }
}
