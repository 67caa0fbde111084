import type { CliUnderTest } from '../../harness/cli-under-test.js';
import { claudeHistory } from './claude-history.js';
import { claudeRecovery } from './claude-recovery.js';
import { claudeOneCall, claudeStructuredWarm } from './claude-structured.js';
import { claudeWarm } from './claude-warm.js';
import { codexHistory } from './codex-history.js';
import { codexRecovery } from './codex-recovery.js';
import { codexOneCall, codexStructuredWarm } from './codex-structured.js';
import { codexThreads } from './codex-threads.js';
import { codexWarm } from './codex-warm.js';
import { claudeDelivery, codexDelivery } from './delivery.js';
import { codexIdle } from './idle-sessions.js';
import { journal } from './journal.js';
import { claudeScale } from './scale.js';
import { scan } from './scan.js';
import type { Suite } from './suite.js';

const suites: readonly Suite[] = [
  journal,
  scan,
  claudeStructuredWarm,
  codexStructuredWarm,
  claudeOneCall,
  codexOneCall,
  claudeHistory,
  codexHistory,
  codexThreads,
  claudeWarm,
  codexWarm,
  claudeRecovery,
  codexRecovery,
  claudeScale,
  codexIdle,
  claudeDelivery,
  codexDelivery,
];

/** Every suite that has a wanted row, once for each CLI it measures. */
export function listSuites(
  clis: readonly CliUnderTest[],
  wants: (row: string) => boolean,
): readonly { readonly name: string; readonly suite: Suite; readonly cli: CliUnderTest }[] {
  return suites
    .filter(({ rows }) => rows.some(wants))
    .flatMap((suite) => {
      const measured =
        suite.provider === undefined
          ? clis.slice(0, 1)
          : clis.filter(({ provider }) => provider === suite.provider);
      return measured.map((cli) => {
        const of = suite.provider === undefined ? '' : ` of ${cli.provider} ${cli.version}`;
        return { name: `Rows ${suite.rows.join(', ')}${of}`, suite, cli };
      });
    });
}
