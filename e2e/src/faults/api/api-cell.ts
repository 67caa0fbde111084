/** When the service of an API agent is killed: at a window of the model's answer, by the tool, or at a durable line. */
export const apiCells = [
  'at_request',
  'before_first_byte',
  'mid_stream',
  'after_tool_block',
  'after_end',
  // By the tool itself.
  'before_effect',
  'after_effect',
  'api:session_opened',
  'api:turn_started',
  'api:step_started',
  'api:step_finished',
  'api:tool_call_started',
  'api:tool-called',
  'api:tool_call_finished',
  'api:turn_ended',
] as const;

/** One kill of the service of an API agent. */
export type ApiCell = (typeof apiCells)[number];

/** The cell that only a first turn has. */
export const startCell: ApiCell = 'api:session_opened';

/** Whether the cell only comes where the model calls a tool. */
export function needsTool(cell: ApiCell): boolean {
  return cell.includes('tool') || cell.endsWith('_effect');
}

/** Whether the cell is a durable line of the transcript, at which the service kills itself. */
export function isLine(cell: ApiCell): boolean {
  return cell.startsWith('api:');
}
