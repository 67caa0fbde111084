/** Marks an error so that it is recognised across duplicate installs, where `instanceof` fails. */
export function brandError(error: Error, brand: symbol): void {
  Object.defineProperty(error, brand, { value: true });
}

/** Tells whether `value` carries the brand. */
export function hasBrand(value: unknown, brand: symbol): boolean {
  return typeof value === 'object' && value !== null && brand in value;
}

/** The fields of an error that cross JSON: its family, kind, message and facts. */
export function errorToJson(family: string, error: Error & { readonly kind: string }) {
  const facts = Object.fromEntries(
    Object.entries(error).filter(([key, value]) => !OWN_KEYS.has(key) && value !== undefined),
  );
  return { family, kind: error.kind, name: error.name, message: error.message, facts };
}

const OWN_KEYS = new Set(['name', 'message', 'stack', 'cause', 'kind']);

/** What an error looks like in JSON. */
export type ErrorJson = ReturnType<typeof errorToJson>;
