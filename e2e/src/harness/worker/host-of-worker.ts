import type { ApprovalHandler, HostDecision, HostRequest, Message } from '@holdfast/provider-core';
import type { ScriptedDecision } from '@holdfast/provider-core/certification';
import { reportLine, type WorkerCommand } from './worker-command.js';

/** The host that a worker's turn may ask: it tells each request, and decides as its command says. */
export function hostOf({ decisions }: WorkerCommand): { readonly onApproval?: ApprovalHandler } {
  if (!decisions) return {};
  const left = [...decisions];
  return {
    onApproval: (request) => {
      reportLine({ type: 'request', request });
      const next = left.length > 1 ? left.shift() : left[0];
      return next ? decide(next, request) : { decision: 'deny' };
    },
  };
}

/** The message with the command's images behind its text. */
export function messageOf({ images }: WorkerCommand, text: string): Message {
  return images ? [{ type: 'text', text }, ...images] : text;
}

function decide(script: ScriptedDecision, request: HostRequest): HostDecision | Promise<never> {
  if (script.decision === 'never') return new Promise<never>(() => {});
  if (script.decision !== 'choose') return script;
  const questions = request.type === 'question' ? request.questions : [];
  const answers = questions.map(({ id, choices }) => {
    const chosen = choices[script.choice];
    return [id, chosen ? [chosen.label] : []] as const;
  });
  return { decision: 'answer', answers: Object.fromEntries(answers) };
}
