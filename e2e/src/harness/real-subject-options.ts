import type { Way } from '@holdfast/provider-core';
import type { HandleJson, SubjectTurnOptions } from '@holdfast/provider-core/certification';
import type { CliUnderTest } from './cli-under-test.js';
import type { ProviderFixture } from './providers/provider-fixture.js';

/** Which layer is driven over which CLI. */
export interface RealSubjectOptions {
  readonly cli: CliUnderTest;
  readonly layer: 'provider-core' | 'agent';
  /** `tmux` when absent. Any other way runs on a PATH without tmux, unless a turn says otherwise. */
  readonly way?: Way | undefined;
  /** The Node that runs the workers; our own when absent. */
  readonly node?: string | undefined;
  /** A fault planted in the layer that the workers run. */
  readonly plant?: string | undefined;
  /** Laid over every configuration. */
  readonly config?: HandleJson | undefined;
  /** In place of the fixture's own: how the CLI's home is set up. */
  readonly prepareCliHome?: ProviderFixture['prepareCliHome'] | undefined;
}

/** How one turn is run, and in what environment. */
export interface RealTurnOptions extends SubjectTurnOptions {
  /** Added to the worker's environment. */
  readonly env?: Readonly<Record<string, string>>;
}
