/** What a tool gave, as the one text a model is told. A part that is no text is named, never dropped. Pure. */
export function writeToolOutput(result: object): string {
  const parts = 'content' in result && Array.isArray(result.content) ? result.content : [];
  const texts = parts.map(writePart);
  if (texts.length > 0) return texts.join('\n');
  const structured = 'structuredContent' in result ? result.structuredContent : undefined;
  return structured === undefined ? '' : JSON.stringify(structured);
}

function writePart(part: unknown): string {
  const fields = fieldsOf(part);
  const text = fields.get('text');
  if (fields.get('type') === 'text' && typeof text === 'string') return text;
  const resource = fieldsOf(fields.get('resource'));
  const inner = resource.get('text');
  if (typeof inner === 'string') return inner;
  const about = [
    fields.get('mimeType') ?? resource.get('mimeType'),
    fields.get('uri') ?? resource.get('uri'),
  ];
  const known = about.filter((one) => typeof one === 'string');
  return `[${[String(fields.get('type') ?? 'part'), ...known].join(' ')}: not shown]`;
}

function fieldsOf(value: unknown): ReadonlyMap<string, unknown> {
  return new Map(typeof value === 'object' && value !== null ? Object.entries(value) : []);
}
