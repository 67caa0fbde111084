import { describe, expect, it } from 'vitest';
import { createApiFixture } from './__fixtures__/api-fixture.js';
import { ScriptedPort, say } from './__fixtures__/scripted-port.js';

const createEcho = () => new ScriptedPort(() => say('fine'));

describe('an agent on a model API', () => {
  it.each([
    ['without a model', { model: '' }],
    ['with a relative working directory', { workingDir: 'project' }],
    ['with a transport of a CLI', { transport: 'tmux' as 'api' }],
    ['with no steps to make', { maxSteps: 0 }],
  ])('is not made %s', async (_what, options) => {
    await using fixture = await createApiFixture(createEcho());
    expect(() => fixture.createAgent(options)).toThrow(TypeError);
  });
});
