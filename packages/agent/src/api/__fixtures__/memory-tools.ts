import type { BoxedTool, CallOptions, ToolBox, ToolResult } from '../tools/tool-box.js';

export interface MemoryTool {
  readonly isReadOnly?: boolean;
  readonly isIdempotent?: boolean;
  readonly run?: (input: unknown, signal: AbortSignal) => string | Promise<string>;
}

/** Tools that live in memory; what was called survives every death of ours. */
export class MemoryTools implements ToolBox {
  readonly called: { name: string; input: unknown }[] = [];
  isOpen = false;

  constructor(readonly tools: Readonly<Record<string, MemoryTool>>) {}

  async open(): Promise<readonly BoxedTool[]> {
    this.isOpen = true;
    return Object.entries(this.tools).map(([name, tool]) => ({
      name,
      inputSchema: { type: 'object' },
      traits: { isReadOnly: tool.isReadOnly ?? false, isIdempotent: tool.isIdempotent ?? false },
    }));
  }

  async call(name: string, input: unknown, { signal }: CallOptions): Promise<ToolResult> {
    this.called.push({ name, input });
    try {
      return { output: (await this.tools[name]?.run?.(input, signal)) ?? `${name} done`, isError: false };
    } catch (error) {
      signal.throwIfAborted();
      return { output: String(error), isError: true };
    }
  }

  async close(): Promise<number> {
    this.isOpen = false;
    return 0;
  }
}
