import assert from 'node:assert/strict';
import type { RunningTurn } from '@holdfast/provider-core/certification';
import type { RealSubject } from '../harness/real-subject.js';
import { readScreens } from './screens.js';

interface ExpectedPage {
  /** The name in the error. */
  readonly dialog: string;
  /** What the page says. */
  readonly says: RegExp;
}

/**
 * Asserts that the turn ends in `blocked` with the page's name and text, and that nobody pressed a key: the model was
 * not asked, and the page still stands in its pane with its marker where it was.
 */
export async function expectUntouchedPage(
  subject: RealSubject,
  turn: RunningTurn,
  { dialog, says }: ExpectedPage,
): Promise<void> {
  const before = subject.modelRequests().length;
  const outcome = await turn.finished.catch((error: unknown) => error);
  const facts: Readonly<Record<string, unknown>> =
    outcome instanceof Error ? { ...outcome } : { completed: outcome };
  const seen = `the outcome was: ${String(outcome)} ${String(facts['pageText'])}`;
  assert.equal(facts['kind'], 'blocked', seen);
  assert.equal(facts['dialog'], dialog, seen);
  const pageText = String(facts['pageText']);
  assert.match(pageText, says);

  assert.equal(subject.modelRequests().length, before, 'requests behind a page');
  const screens = await readScreens(subject);
  assert.equal(screens.length, 1, 'the pane with the page');
  for (const line of pageText.split('\n')) {
    assert.ok(
      screens[0]?.includes(line.trim()),
      `the page still shows "${line}":\n${screens.join('\n')}`,
    );
  }
}
