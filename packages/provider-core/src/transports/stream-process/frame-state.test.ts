import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StreamProcess } from '../../spec/stream-process.js';
import { FrameState } from './frame-state.js';

let root: string;
let path: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hf-frames-'));
  path = join(root, 'output.jsonl');
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** Each line stands for one sign. */
const way = {
  readFrame: (value: unknown) => (typeof value === 'object' && value !== null ? [value] : []),
} as unknown as StreamProcess;
const busy = '{"type":"activity","activity":"busy"}\n';

describe('what a process has said', () => {
  it('is read past lines that are none', async () => {
    await writeFile(path, Buffer.from(`\0\xff\n{\n[]\n5\nnull\n${busy}`, 'latin1'));
    const state = new FrameState(way, path);
    await state.readOn();
    expect(state.activity).toBe('busy');
  });

  it('counts no more when a stranger cut the output: nobody is waited for then', async () => {
    await writeFile(path, busy);
    const state = new FrameState(way, path);
    await state.readOn();
    await truncate(path);
    await state.readOn();
    expect(state.activity).toBeUndefined();
    expect(state.offset).toBe(0);
  });

  it('is kept when we cut the output between two turns', async () => {
    await writeFile(path, busy.replace('busy', 'idle'));
    const state = new FrameState(way, path);
    await state.readOn();
    await truncate(path);
    state.noteCut();
    await state.readOn();
    expect(state.activity).toBe('idle');
  });

  it('gives an answer out once, so that a long-lived service keeps none', async () => {
    await writeFile(path, '{"type":"answer","requestId":"a","isDone":true}\n');
    const state = new FrameState(way, path);
    await state.readOn();
    expect(state.takeAnswer('a')).toMatchObject({ isDone: true });
    expect(state.takeAnswer('a')).toBeUndefined();
  });
});
