import { z } from 'zod';
import type { ModelAssistantPart } from '../spec/model-port.js';

const metadata = z.record(z.string(), z.record(z.string(), z.json()));

/** What a vendor wants back: its own reasoning, or a mark that belongs to the part behind it. */
const opaqueValue = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('reasoning'), text: z.string(), metadata: metadata.optional() }),
  z.object({ kind: z.literal('mark'), metadata }),
]);

/** The value of an opaque part that this package wrote. */
export type OpaqueValue = z.infer<typeof opaqueValue>;

/** The vendor's own fields of a part, by the names the vendor's package gave them. */
export type PartMetadata = z.infer<typeof metadata>;

/** The opaque part as it is stored with the conversation. */
export function writeOpaquePart(vendor: string, value: OpaqueValue): ModelAssistantPart {
  return { type: 'opaque', vendor, value };
}

/** The value of an opaque part, or `undefined` when another vendor wrote it: only its writer understands it. */
export function readOpaquePart(
  vendor: string,
  part: Extract<ModelAssistantPart, { type: 'opaque' }>,
): OpaqueValue | undefined {
  if (part.vendor !== vendor) return undefined;
  return opaqueValue.safeParse(part.value).data;
}

/** A vendor's fields as they come off the wire, or `undefined` when there are none to keep. */
export function readPartMetadata(value: unknown): PartMetadata | undefined {
  const found = metadata.safeParse(value).data;
  return found && Object.keys(found).length > 0 ? found : undefined;
}
