import { expectTypeOf, it } from 'vitest';
import type * as z from 'zod';
import type { CodingProviderSessionHandle } from '../spec/provider-session-handle.js';
import type { codingProviderSessionHandleCodec } from './provider-session-handle.wire.js';

it('the codec and the public interface describe the same handle', () => {
  expectTypeOf<
    z.output<typeof codingProviderSessionHandleCodec>
  >().toEqualTypeOf<CodingProviderSessionHandle>();
});
