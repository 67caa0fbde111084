import type { ToolPolicy } from '@holdfast/provider-core';
import type { ToolTraits } from './tools/tool-box.js';

/** What the policy says of one call. */
export type PolicyVerdict =
  | { readonly verdict: 'run' }
  | { readonly verdict: 'ask' }
  | { readonly verdict: 'deny'; readonly why: string };

/**
 * Judges one tool by the policy; `deny` wins over `allow`. `edit` and `full` run what is not denied: what a tool of a
 * server touches cannot be seen from here. Pure.
 */
export function judgeTool(
  { permissions, allow = [], deny = [] }: ToolPolicy,
  name: string,
  { isReadOnly }: ToolTraits,
): PolicyVerdict {
  if (deny.some((pattern) => matches(pattern, name))) return denied('the tool policy denies it');
  if (permissions === 'read_only') {
    return isReadOnly
      ? { verdict: 'run' }
      : denied('the session is read-only, and its server does not declare this tool read-only');
  }
  if (permissions === 'edit' || permissions === 'full') return { verdict: 'run' };
  return { verdict: allow.some((pattern) => matches(pattern, name)) ? 'run' : 'ask' };
}

function denied(why: string): PolicyVerdict {
  return { verdict: 'deny', why };
}

/** `*` stands for anything; a server's name alone stands for all of its tools. */
function matches(pattern: string, name: string): boolean {
  if (name.startsWith(`${pattern}__`)) return true;
  const literal = pattern.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${literal.join('.*')}$`, 's').test(name);
}
