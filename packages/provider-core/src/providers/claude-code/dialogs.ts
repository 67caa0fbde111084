import type { PageAnswer } from '../../spec/typed-pane.js';

/** A page that stands in the way of the composer. */
export interface Dialog {
  readonly dialog: string;
  readonly text: string;
  readonly answer?: PageAnswer;
}

/** Name and sign of each page that was seen. The first that fits counts. */
const KNOWN_PAGES: readonly (readonly [name: string, sign: RegExp])[] = [
  ['trust', /Accessing workspace:|one you trust\?|trust the files in this folder/],
  ['api_key', /Detected a custom API key in your environment/],
  ['renderer', /Try the new fullscreen renderer\?/],
  ['settings_error', /^\s*Settings Error\s*$/m],
  ['configuration_error', /^\s*Configuration error\s*$/im],
  ['bypass_warning', /running in Bypass Permissions mode/],
  ['onboarding', /Choose the text style that looks best|Let's get started\./],
  ['login', /Select login method|Paste code here if prompted/],
  ['resume_from_summary', /Resume from summary/i],
  ['mcp_servers', /MCP servers? found in \.mcp\.json/],
  ['plan_approval', /Would you like to proceed\?|Ready to code\?/],
  ['permission', /Do you want to (?:proceed|make this edit|create|allow|overwrite)/],
  ['update', /update (?:is )?(?:required|available)[\s\S]*(?:Enter to|❯)/i],
];

/** What a page looks like that nobody described yet: a marked choice, or a word on the keys. */
const ANY_PAGE =
  /^\s*❯ \S|Enter to (?:confirm|continue|select)|Esc to (?:cancel|exit|go back)|Press Enter/m;

/** Finds a page on a screen that shows no composer. A page without a name is `unknown`; it is never answered. */
export function findDialog(text: string): Dialog | undefined {
  const known = KNOWN_PAGES.find(([, sign]) => sign.test(text));
  if (!known && !ANY_PAGE.test(text)) return undefined;
  const dialog = known?.[0] ?? 'unknown';
  const answer = dialog === 'trust' ? readTrustAnswer(text) : undefined;
  return { dialog, text: withoutRules(text), ...(answer ? { answer } : {}) };
}

/** The words of a page, without the lines and blanks that lay it out. */
function withoutRules(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /[\p{L}\p{N}]/u.test(line))
    .join('\n');
}

/** The default of this page is yes in one version and no in another, so the choice is looked for by its words. */
function readTrustAnswer(text: string): PageAnswer | undefined {
  const lines = text.split('\n');
  const marked = lines.findIndex((line) => /^\s*❯ /.test(line));
  if (marked < 0) return undefined;
  const isChoice = (line: string | undefined) =>
    /^\s+(?:❯ )?\s*(?:\d+\. )?(?:Yes|No)\b/.test(line ?? '');
  let first = marked;
  while (isChoice(lines[first - 1])) first -= 1;
  let end = marked + 1;
  while (isChoice(lines[end])) end += 1;
  const choices = lines.slice(first, end).map(readLabel);
  const choice = choices.find((label) => label.startsWith('Yes'));
  if (choice === undefined) return undefined;
  return { needs: 'trust_working_dir', choice, marked: choices[marked - first], choices };
}

function readLabel(line: string): string {
  return line.replace(/^\s*(?:❯ )?\s*(?:\d+\. )?/, '').trimEnd();
}
