import { providerCapabilities } from '@holdfast/provider-core';
import {
  historyCertificationIds,
  historyRequirements,
} from '@holdfast/provider-core/certification';
import { listModelApiFixtures } from '../../harness/providers/model-apis.js';
import type { CertificationRow } from '../certification-row.js';

/** What is claimed and was seen of the model APIs, whose history is ours. */
export function renderHistoryTable(rows: readonly CertificationRow[]): string {
  const providers = listModelApiFixtures().map(({ provider }) => provider);
  const behaviours = historyCertificationIds.map(
    (id) => `| \`${id}\` | ${historyRequirements[id].behaviour} |`,
  );
  const seen = historyCertificationIds.map((id) => {
    const cells = providers.map((provider) =>
      renderCell(
        rows.filter((row) => row.id === id && row.provider === provider),
        historyRequirements[id].requiredBy(providerCapabilities(provider)),
      ),
    );
    return `| \`${id}\` | ${cells.join(' | ')} |`;
  });
  return [
    '### Model APIs',
    '',
    'Through `agent`, which keeps their history: real processes and tool servers, the vendors’ own packages, a model on the loopback address.',
    '',
    '| Certification | Behaviour |',
    '| --- | --- |',
    ...behaviours,
    '',
    ...renderVerbs(providers),
    '',
    `| Certification | ${providers.join(' | ')} |`,
    `| --- | ${providers.map(() => '---').join(' | ')} |`,
    ...seen,
    '',
  ].join('\n');
}

function renderVerbs(providers: readonly string[]): readonly string[] {
  const [first = ''] = providers;
  const verbs = Object.keys(providerCapabilities(first).verbs);
  const lines = verbs.map((verb) => {
    const cells = providers.map((provider) => {
      const claims = new Map<string, unknown>(Object.entries(providerCapabilities(provider).verbs));
      return claims.get(verb) ? 'yes' : 'no';
    });
    return `| \`${verb}\` | ${cells.join(' | ')} |`;
  });
  return [
    `| Verb | ${providers.join(' | ')} |`,
    `| --- | ${providers.map(() => '---').join(' | ')} |`,
    ...lines,
  ];
}

function renderCell(rows: readonly CertificationRow[], isClaimed: boolean): string {
  if (!isClaimed) return 'not claimed';
  if (rows.length === 0) return 'not run';
  if (rows.some(({ status }) => status === 'failed')) return 'failed';
  return `passed, ${[...new Set(rows.map(({ evidence }) => evidence))].join(', ')}`;
}
