import { describe, expect, it } from 'vitest';
import { planResumeMark } from './resume-mark.js';

const record = (...rows: readonly object[]) =>
  `${rows.map((row) => JSON.stringify(row)).join('\n')}\n`;

const first = { type: 'user', uuid: 'first', parentUuid: null };
const cutOff = { type: 'assistant', uuid: 'cut-off', parentUuid: 'first' };
const mark = { type: 'last-prompt', leafUuid: 'cut-off' };
const beside = { type: 'assistant', uuid: 'beside', parentUuid: 'first' };
const later = { type: 'user', uuid: 'later', parentUuid: 'beside' };

describe('planResumeMark', () => {
  it('points to the newest leaf when the marked one was left behind', () => {
    const planned = planResumeMark(record(first, cutOff, mark, beside, later), 'id');
    expect(JSON.parse(planned ?? '')).toEqual({
      type: 'last-prompt',
      leafUuid: 'later',
      sessionId: 'id',
    });
  });

  it('is not needed when the conversation went on from the marked leaf', () => {
    const onwards = { type: 'user', uuid: 'onwards', parentUuid: 'cut-off' };
    expect(planResumeMark(record(first, cutOff, mark, onwards), 'id')).toBeUndefined();
    expect(planResumeMark(record(first, cutOff, mark), 'id')).toBeUndefined();
    expect(planResumeMark(record(first, cutOff, beside, later), 'id')).toBeUndefined();
  });

  it('ends a line that was cut off before it adds its own', () => {
    const torn = `${record(first, cutOff, mark, beside)}{"type":"us`;
    expect(planResumeMark(torn, 'id')).toMatch(/^\n\{"type":"last-prompt","leafUuid":"beside"/);
  });
});
