import { appendFile } from 'node:fs/promises';
import { defineWorkflow, type JsonValue, type WorkflowDefinition } from '@holdfast/builder';
import { POST_STEP_WORKFLOW } from './workflow-command.js';

/**
 * One step with a validation, a review of the knowledge base and a learning turn. Its session learns a codeword in the
 * first message and is asked for it in the later ones, so that an answer proves which conversation it came from.
 */
export function definePostStepWorkflow(sharedFile: string, agent: string): WorkflowDefinition {
  const keep = (what: string) => async (answer: string) => {
    await appendFile(sharedFile, `${what}: ${answer}\n`);
  };
  return defineWorkflow({
    id: POST_STEP_WORKFLOW,
    steps: [
      {
        id: 'draft',
        agent,
        prompt: ({ input }) => `Remember the codeword ${readCodeword(input)}.`,
        preValidate: (answer) =>
          answer.includes('remembered')
            ? { passed: true }
            : { passed: false, feedback: 'Say that you remembered it.' },
        kbReview: { prompt: 'Review: what is the codeword?', apply: keep('review') },
        learning: { prompt: 'Learning: what is the codeword?', apply: keep('learning') },
      },
    ],
  });
}

function readCodeword(input: JsonValue): string {
  return typeof input === 'string' ? input : 'heron';
}
