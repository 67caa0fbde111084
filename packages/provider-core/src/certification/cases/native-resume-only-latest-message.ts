import { checkConversation } from '../conversation.js';
import { type CertificationSubject, lossDepthsOf } from '../subject.js';

/** CertNativeResumeOnlyLatestMessage: a resumed session is sent the new message and nothing older. */
export async function nativeResumeOnlyLatestMessage(subject: CertificationSubject): Promise<void> {
  const messages = ['Remember the codeword heron.'];
  let { handle } = await subject.start('Remember the codeword heron.');
  await checkConversation(subject, handle, messages);

  for (const depth of lossDepthsOf(subject.claims)) {
    const message = `Which codeword did I name, asked after the loss of ${depth}?`;
    messages.push(message);
    await subject.lose(handle, depth);
    ({ handle } = await subject.continue(handle, message));
    await checkConversation(subject, handle, messages);
  }
}
