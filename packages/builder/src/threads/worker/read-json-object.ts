/** The JSON object that a text is, alone or in one code fence; `undefined` where it is anything besides. */
export function readJsonObject(text: string): unknown {
  const trimmed = text.trim();
  const [, fenced] = /^```(?:json)?[ \t]*\r?\n([\s\S]*?)\r?\n```$/.exec(trimmed) ?? [];
  try {
    // An escape can say half a character, with which nothing can be kept.
    return JSON.parse(fenced ?? trimmed, (_name, value: unknown) =>
      typeof value === 'string' ? value.toWellFormed() : value,
    );
  } catch {
    return undefined;
  }
}
