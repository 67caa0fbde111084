import { fdatasync, fsync } from 'node:fs';
import { promisify } from 'node:util';

// What only touches the page cache is done at once all over this folder: it takes some ten microseconds, and to have another
// thread do it takes many times that, on a busy machine milliseconds. To wait for the disk is what these two are for.

/** Makes an open file durable, its length and times too. */
export const syncFile: (fd: number) => Promise<void> = promisify(fsync);

/** Makes the content of an open file durable. */
export const syncContent: (fd: number) => Promise<void> = promisify(fdatasync);
