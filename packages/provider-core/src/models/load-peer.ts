import { CliUnusableError } from '../errors/turn-error.js';

/** Loads an optional peer at its first use; a missing one is a typed error that names what to install. */
export async function loadPeer<Module>(
  packageName: string,
  load: () => Promise<Module>,
): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    throw new CliUnusableError(
      packageName,
      'missing',
      `The package could not be loaded. Install it beside @holdfast/provider-core: npm install ai ${packageName}`,
      { cause: error },
    );
  }
}
