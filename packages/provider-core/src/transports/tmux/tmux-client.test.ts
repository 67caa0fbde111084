import { describe, expect, it } from 'vitest';
import { checkVersionIsSupported } from './tmux-client.js';

describe('checkVersionIsSupported', () => {
  it.each(['3.2', '3.2a', '3.3a', '3.7b', '4.0', 'next-3.4', 'master', 'openbsd-7.4'])(
    'B53: takes tmux %s',
    (version) => {
      expect(() => checkVersionIsSupported(version)).not.toThrow();
    },
  );

  it.each(['1.8', '2.9a', '3.1c', 'next-3.1'])('B53: refuses tmux %s', (version) => {
    expect(() => checkVersionIsSupported(version)).toThrow(
      expect.objectContaining({ code: 'too_old' }),
    );
  });
});
