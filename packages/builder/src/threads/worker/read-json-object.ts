/** The JSON object that a text is, alone or in one code fence; `undefined` where it is anything besides. */
export function readJsonObject(text: string): unknown {
  const trimmed = text.trim();
  const [, fenced] = /^```(?:json)?[ \t]*\r?\n([\s\S]*?)\r?\n```$/.exec(trimmed) ?? [];
  try {
    return JSON.parse(fenced ?? trimmed);
  } catch {
    return undefined;
  }
}
