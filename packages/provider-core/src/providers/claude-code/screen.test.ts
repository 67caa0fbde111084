import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readScreen } from './screen.js';

const screens = new URL('./__fixtures__/screens/', import.meta.url);
const read = (file: string) => readScreen(readFileSync(new URL(file, screens), 'utf8'));

describe('readScreen', () => {
  // A capture's name says what it shows: `<content of the composer, or name of the page>.<situation>-<version>.txt`.
  it.each(readdirSync(screens))('reads %s', (file) => {
    const screen = read(file);
    const shown = screen.state === 'composer' ? screen.composer.content : undefined;
    expect(shown ?? (screen.state === 'page' ? screen.dialog : screen.state)).toBe(
      file.split('.')[0],
    );
  });

  it('gives the lines of a draft without prompt and indent', () => {
    const screen = read('text.inline-paste-2.1.332.txt');
    expect(screen).toMatchObject({
      composer: { lines: ['first line', 'second line'], isCut: false },
    });
  });

  it('finds the trusting choice by its words, whichever is the default', () => {
    const older = read('trust.new-folder-2.1.197.txt');
    const newer = read('trust.new-folder-2.1.332.txt');
    const choice = 'Yes, I trust this folder';
    expect(older).toMatchObject({ answer: { choice, marked: choice } });
    expect(newer).toMatchObject({ answer: { choice, marked: 'No, exit' } });
  });

  it('lets no other page be answered', () => {
    const pages = readdirSync(screens)
      .map(read)
      .filter(({ state }) => state === 'page');
    const answered = pages.flatMap((page) =>
      'answer' in page && page.answer ? [page.dialog] : [],
    );
    expect(answered).toEqual(['trust', 'trust']);
  });

  it('B71, B86: takes a page nobody described for unknown', () => {
    const text = 'A page of tomorrow\n\n ❯ 1. Yes\n   2. No\n\n Enter to confirm';
    expect(readScreen(text)).toMatchObject({ state: 'page', dialog: 'unknown' });
  });

  it('says nothing of an empty screen', () => {
    expect(readScreen('\n\n\n')).toMatchObject({ state: 'unreadable' });
  });

  it('reads the end of a composer that is taller than the screen', () => {
    const rows = Array.from({ length: 46 }, (_, index) => `  line ${index}`);
    const screen = readScreen([...rows, '─'.repeat(160), '  ? for shortcuts'].join('\n'));
    expect(screen).toMatchObject({ state: 'composer', composer: { content: 'text', isCut: true } });
  });
});
