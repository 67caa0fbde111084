import { join } from 'node:path';
import { checkConversation, type HandleJson } from '@holdfast/provider-core/certification';
import type { CliUnderTest } from '../harness/cli-under-test.js';
import { RealSubject } from '../harness/real-subject.js';
import { askInNewProcess, type ChatProcess } from './chat-process.js';

/** What the demo shows of one CLI. */
export interface DemoReport {
  readonly provider: string;
  readonly cliVersion: string;
  readonly killed: 'tmux';
  readonly recalled: boolean;
  readonly messagesSentOnResume: number;
  readonly sameNativeSession: boolean;
  /** From the start of the second service to its answer. */
  readonly recoveryMs: number;
}

/** Told as it happens, for people. */
export type Narrate = (what: string, text: string) => void;

const codewords = ['heron', 'juniper', 'lantern', 'marble', 'saffron', 'thistle'];

/** A chat learns a codeword, everything that held it is killed, and a new process asks for it. */
export async function recallAfterLoss(cli: CliUnderTest, narrate: Narrate): Promise<DemoReport> {
  const subject = await RealSubject.create({ cli, layer: 'agent' });
  const services: ChatProcess[] = [];
  try {
    return await runScenario(subject, cli, services, narrate);
  } finally {
    for (const service of services) await service.kill();
    await subject[Symbol.asyncDispose]();
  }
}

async function runScenario(
  subject: RealSubject,
  cli: CliUnderTest,
  services: ChatProcess[],
  narrate: Narrate,
): Promise<DemoReport> {
  const codeword = codewords[Math.floor(Math.random() * codewords.length)] ?? 'heron';
  const tell = `Remember the codeword ${codeword}.`;
  const ask = 'What is the codeword?';
  const chat = {
    dataDir: join(subject.place.root, 'data'),
    chatId: crypto.randomUUID(),
    agent: { transport: 'tmux', ...subject.config(), stateDir: subject.place.stateDir },
  };

  const first = await askInNewProcess({ ...chat, message: tell }, subject.place.home);
  services.push(first);
  narrate('told', `"${tell}" → ${first.answer.answer}`);
  const before = await readSession(subject, first.answer.handle);

  await first.kill();
  narrate('killed', `the service, process ${first.pid}, with SIGKILL`);
  await subject.lose(first.answer.handle, 'pane');
  narrate('killed', `its tmux session ${before.tmuxSession}`);
  await subject.restartModel();
  narrate('restarted', 'the scripted model, which remembers nothing');

  const started = performance.now();
  const second = await askInNewProcess({ ...chat, message: ask, close: true }, subject.place.home);
  const recoveryMs = Math.round(performance.now() - started);
  services.push(second);
  narrate('asked', `"${ask}" from a new process → ${second.answer.answer}`);
  const after = await readSession(subject, second.answer.handle);
  await checkConversation(subject, second.answer.handle, [tell, ask]);

  return {
    provider: cli.provider,
    cliVersion: cli.version,
    killed: 'tmux',
    recalled: second.answer.answer.includes(codeword),
    messagesSentOnResume: after.messages - before.messages,
    sameNativeSession: before.id === after.id && after.sessions === 1,
    recoveryMs,
  };
}

/** What the CLI's own record says of the session. */
async function readSession(subject: RealSubject, handle: HandleJson) {
  return {
    id: subject.nativeSessionId(handle),
    tmuxSession: String(subject.providerFields(handle)['tmux_session']),
    messages: (await subject.recordedMessages(handle)).length,
    sessions: (await subject.nativeSessions()).length,
  };
}
