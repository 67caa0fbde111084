import { randomUUID } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import { defineWorkflow, type WorkflowDefinition } from '@holdfast/builder';
import { EVERY_PHASE_WORKFLOW, type EveryPhase } from './workflow-command.js';

/** How often a check may be cut off by a kill and asked for again. */
const MAX_FEEDBACK = 50;

/**
 * Two steps with every phase that an execution has: the first one goes on in its own session and is sent feedback once
 * at least, the second one reviews and learns in sessions of their own.
 */
export function defineEveryPhaseWorkflow(
  sharedFile: string,
  agent: string,
  { prompt, feedback, writer }: EveryPhase,
): WorkflowDefinition {
  const keep = (what: string) => async (answer: string) => {
    await appendFile(sharedFile, `${what}: ${answer}\n`);
  };
  return defineWorkflow({
    id: EVERY_PHASE_WORKFLOW,
    steps: [
      {
        id: 'draft',
        agent,
        prompt,
        maxFeedback: MAX_FEEDBACK,
        // Each feedback is a message of its own, so that one that came twice can be told.
        preValidate: (answer) =>
          answer.includes('checked')
            ? { passed: true }
            : { passed: false, feedback: `Check ${randomUUID()}: ${feedback}` },
        kbReview: { prompt: 'Review what was drafted.', apply: keep('review') },
        learning: { prompt: 'Learn from what was drafted.', apply: keep('learning') },
      },
      {
        id: 'publish',
        agent: writer,
        prompt: 'Publish what was drafted.',
        kbReview: {
          mode: 'agent',
          prompt: 'Review what was published.',
          apply: keep('agent review'),
        },
        learning: {
          mode: 'agent',
          prompt: 'Learn from what was published.',
          apply: keep('agent learning'),
        },
      },
    ],
  });
}
