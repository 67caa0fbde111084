/** A JSON object whose fields are not known yet. */
export type JsonRecord = Readonly<Record<string, unknown>>;

/** Whether `value` is a JSON object, and not an array. */
export function isJsonRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects in a JSON array; whatever else stands in it, or no array at all, is left out. */
export function readJsonRecords(value: unknown): readonly JsonRecord[] {
  return Array.isArray(value) ? value.filter(isJsonRecord) : [];
}

/** The value of a JSON text, or `undefined` when it is none. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The JSON object in a text; an empty one when there is none. */
export function readJsonRecord(text: unknown): JsonRecord {
  const value = typeof text === 'string' ? readJson(text) : text;
  return isJsonRecord(value) ? value : {};
}

/** `value` when it is a string, else `undefined`. */
export function readString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
