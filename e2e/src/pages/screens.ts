import type { RealSubject } from '../harness/real-subject.js';

/** What each pane of the subject shows; the server's own keeper is left out. */
export async function readScreens({ tmux }: RealSubject): Promise<readonly string[]> {
  const listed = await tmux.run('list-panes', '-a', '-F', '#{pane_id} #{session_name}');
  const panes = listed.split('\n').filter((line) => line && !line.endsWith(' holdfast-keeper'));
  return Promise.all(
    panes.map((line) => tmux.run('capture-pane', '-p', '-t', line.split(' ')[0] ?? '')),
  );
}
