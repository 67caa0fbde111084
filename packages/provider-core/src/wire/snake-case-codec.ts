import * as z from 'zod';

type CamelCase<Key extends string> = Key extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Key;

type CamelKeys<T> = { readonly [K in keyof T as K extends string ? CamelCase<K> : K]: T[K] };

/**
 * Builds the codec between a JSON object spelled in snake_case and the camelCase value the code
 * works with. Renames the declared keys of this one object and nothing deeper. Keys that are not
 * declared pass through both ways unchanged. A blank string counts as absent.
 */
export function snakeCaseCodec<Shape extends z.ZodRawShape>(wireShape: Shape) {
  // Loose at run time; typed as if closed, so that code cannot lean on unknown keys.
  const wire = z.looseObject(wireShape) as unknown as z.ZodObject<Shape>;
  const modelNames = new Map(Object.keys(wireShape).map((key) => [key, toCamelCase(key)]));
  const wireNames = new Map([...modelNames].map(([wireKey, modelKey]) => [modelKey, wireKey]));

  type Wire = z.output<typeof wire>;
  type Model = CamelKeys<Wire>;
  return z.codec(wire, z.custom<Model>(), {
    decode: (value) => renameKeys(value, modelNames) as Model,
    encode: (value) => renameKeys(value as object, wireNames) as Wire,
  });
}

function renameKeys(value: object, names: ReadonlyMap<string, string>): object {
  const fields = Object.entries(value).filter(([, field]) => !isAbsent(field));
  return Object.fromEntries(fields.map(([key, field]) => [names.get(key) ?? key, field]));
}

function isAbsent(field: unknown): boolean {
  return (
    field === undefined || field === null || (typeof field === 'string' && field.trim() === '')
  );
}

function toCamelCase(key: string): string {
  return key.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
}
