import type { Logger as PinoLogger } from 'pino';
import { expectTypeOf, it } from 'vitest';
import type { Logger } from './logger.js';

it('a pino logger is handed over as it is', () => {
  expectTypeOf<PinoLogger>().toExtend<Logger>();
});
