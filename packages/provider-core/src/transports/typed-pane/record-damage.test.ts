import { describe, expect, it } from 'vitest';
import { describeDamage, findDamage } from './record-damage.js';

const whole = '{"type":"user","uuid":"a"}\n';

describe('findDamage', () => {
  it('finds none in a whole record, nor in a line that is not finished', () => {
    expect(findDamage(Buffer.from(whole + whole))).toBeUndefined();
    expect(findDamage(Buffer.from(`${whole}{"type":"us`))).toBeUndefined();
    expect(findDamage(Buffer.from(''))).toBeUndefined();
  });

  it('B35: counts NUL bytes, garbage and lines that were cut, and says where the first stands', () => {
    const nul = `${'\0'.repeat(40)}\n`;
    const text = `${whole}${nul}garbage\n{"type":"us\n${whole}`;
    expect(findDamage(Buffer.from(text))).toEqual({ lines: 3, firstOffset: whole.length });
  });

  it('B35: sees NUL bytes inside a line', () => {
    expect(findDamage(Buffer.from('{"a":"\0\0"}\n'))).toEqual({ lines: 1, firstOffset: 0 });
  });

  it('says it in one sentence', () => {
    expect(describeDamage({ lines: 1, firstOffset: 7 })).toContain('a damaged line');
    expect(describeDamage({ lines: 2, firstOffset: 7 })).toContain('at byte 7');
  });
});
