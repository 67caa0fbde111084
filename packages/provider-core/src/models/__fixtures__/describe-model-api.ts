import { describe } from 'vitest';
import type { ModelApi } from './model-place.js';
import { testModelFailures } from './test-model-failures.js';
import { testModelSteps } from './test-model-steps.js';

/** The tests that hold for every model API, through the vendor's real package against the scripted model. */
export function describeModelApi(api: ModelApi): void {
  describe(`a model behind ${api.definition.displayName}`, () => {
    testModelSteps(api);
    testModelFailures(api);
  });
}
