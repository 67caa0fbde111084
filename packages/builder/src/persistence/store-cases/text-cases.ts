import assert from 'node:assert/strict';
import type { StoreKey } from '../store.js';
import type { StoreCase } from './store-subject.js';

const keyOf = (step: string): StoreKey => ['runs', '1', 'main', 'logs', step, 'state.json'];

/** What a store promises of `readTexts`, where it has it. */
export const textCases: readonly StoreCase[] = [
  {
    title: 'gives the texts of many records in the order of their keys, or leaves them to read',
    prove: async (subject) => {
      const [store, writer] = [await subject.open(), await subject.open()];
      const numbers = Array.from({ length: 300 }, (_, n) => n);
      await Promise.all(numbers.map((n) => writer.write(keyOf(`${n}`), { n, text: 'häß 漢 🦔' })));
      const places = [...numbers, 5, 5].map((n) => keyOf(`${n}`));
      const texts = await store.readTexts?.(places);
      if (!texts) return;
      assert.equal(texts.length, places.length);
      for (const [index, text] of texts.entries()) {
        if (text === undefined) continue;
        const read = await store.read(places[index] ?? []);
        assert.deepEqual(read, { state: 'present', value: JSON.parse(text) });
      }
      assert.deepEqual(await store.readTexts?.([]), []);
    },
  },
  {
    title: 'gives no text of what read does not find',
    prove: async (subject) => {
      const store = await subject.open();
      if (!store.readTexts) return;
      for (const step of ['removed', 'aside', 'whole']) await store.write(keyOf(step), step);
      await store.remove(keyOf('removed'));
      await store.setAside(keyOf('aside'));
      const texts = await store.readTexts(['never', 'removed', 'aside'].map(keyOf));
      assert.deepEqual(texts, [undefined, undefined, undefined]);
      await store.write(keyOf('whole'), 'anew');
      const [text] = await store.readTexts([keyOf('whole')]);
      assert.ok(text === undefined || JSON.parse(text) === 'anew');
    },
  },
];
