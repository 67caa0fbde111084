import { isJsonRecord, type JsonRecord, readJson } from './json-value.js';

/** One tool call that the model makes. */
export interface ScriptedToolCall {
  readonly name: string;
  /** OpenAI Responses: the group of tools that the name belongs to, where they are offered in groups. */
  readonly namespace?: string;
  readonly input: JsonRecord;
}

/** Token counts that the model reports; what is not given is a small constant. */
export interface ScriptedUsage {
  readonly input?: number;
  readonly output?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
}

/** How the model answers one request. A message carries it as a directive, see {@link scripted}. */
export interface ScriptedStep {
  readonly text?: string;
  readonly thinking?: string;
  readonly tools?: readonly ScriptedToolCall[];
  /** The steps that follow, one each time the tool results of the step before have come in. */
  readonly after?: readonly ScriptedStep[];
  /** Holds everything back, the headers too. */
  readonly delayMs?: number;
  /** Sends the headers at once and holds the first byte of the body back. */
  readonly firstByteDelayMs?: number;
  /** Into how many pieces the text is cut; 2 when absent. */
  readonly chunks?: number;
  readonly chunkDelayMs?: number;
  /** Answers with this HTTP error. */
  readonly status?: number;
  readonly errorType?: string;
  readonly errorMessage?: string;
  /** More fields for the error object, such as `resets_at`. */
  readonly errorDetail?: JsonRecord;
  readonly headers?: Readonly<Record<string, string>>;
  /** Limits `status`, `drop`, `breakStream`, `midStreamError` and `hang` to the first attempts of this server. */
  readonly times?: number;
  /** Closes the connection without a byte. */
  readonly drop?: boolean;
  /** Closes the connection in the middle of the stream. */
  readonly breakStream?: boolean;
  /** Reports an error of this type in the middle of the stream. */
  readonly midStreamError?: string;
  /** Never answers. */
  readonly hang?: boolean;
  /** The stop reason, in the words of Anthropic Messages: `max_tokens`, `refusal`, `pause_turn` … */
  readonly stop?: string;
  readonly usage?: ScriptedUsage;
}

/** A directive that was found in a message, or the reason why it is none. */
export type FoundDirective =
  | { readonly step: ScriptedStep }
  | { readonly problem: string }
  | undefined;

/** A message that scripts its own answer: `text`, and `step` as a directive behind it. */
export function scripted(text: string, step: ScriptedStep): string {
  return `${text}${text === '' ? '' : ' '}[[${JSON.stringify(step)}]]`;
}

/** The last directive `[[{…}]]` in a text. A misspelt one is a problem and not an ordinary message. */
export function findDirective(text: string): FoundDirective {
  const start = text.lastIndexOf('[[{');
  if (start < 0) return undefined;
  const end = text.lastIndexOf('}]]');
  if (end < start) return { problem: 'The directive is not closed.' };
  const value = readJson(text.slice(start + 2, end + 1));
  const problem = findProblem(value);
  if (problem !== undefined) return { problem };
  return isStep(value) ? { step: value } : { problem: 'The directive is no step.' };
}

type FieldCheck = (value: unknown) => boolean;

const isText: FieldCheck = (value) => typeof value === 'string';
const isCount: FieldCheck = (value) => typeof value === 'number' && value >= 0;
const isFlag: FieldCheck = (value) => typeof value === 'boolean';
const isListOf = (check: FieldCheck): FieldCheck => {
  return (value) => Array.isArray(value) && value.every(check);
};

const fieldChecks: Readonly<Record<keyof ScriptedStep, FieldCheck>> = {
  text: isText,
  thinking: isText,
  tools: isListOf(isToolCall),
  after: isListOf((value) => findProblem(value) === undefined),
  delayMs: isCount,
  firstByteDelayMs: isCount,
  chunks: isCount,
  chunkDelayMs: isCount,
  status: isCount,
  errorType: isText,
  errorMessage: isText,
  errorDetail: isJsonRecord,
  headers: (value) => isJsonRecord(value) && Object.values(value).every(isText),
  times: isCount,
  drop: isFlag,
  breakStream: isFlag,
  midStreamError: isText,
  hang: isFlag,
  stop: isText,
  usage: (value) => isJsonRecord(value) && Object.values(value).every(isCount),
};

function findProblem(value: unknown): string | undefined {
  if (!isJsonRecord(value)) return 'The directive is not a JSON object.';
  const checks: ReadonlyMap<string, FieldCheck> = new Map(Object.entries(fieldChecks));
  for (const [name, field] of Object.entries(value)) {
    if (!checks.get(name)?.(field)) return `The directive's field "${name}" is unknown or wrong.`;
  }
  return undefined;
}

function isStep(value: unknown): value is ScriptedStep {
  return findProblem(value) === undefined;
}

function isToolCall(value: unknown): value is ScriptedToolCall {
  if (!isJsonRecord(value)) return false;
  const { name, namespace = '', input } = value;
  return isText(name) && isText(namespace) && isJsonRecord(input);
}
