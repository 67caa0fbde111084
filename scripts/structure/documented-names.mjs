import ts from 'typescript';
import { walk } from './read-sources.mjs';

const core = 'packages/provider-core/src';

/** Error kinds, event types and certification ids that stand in the code but not on their page in `docs/`. */
export function findUndocumentedNames(sources) {
  return [
    ...compare(sources, 'docs/errors.md', 'error-kind', collectErrorKinds(sources)),
    ...compare(sources, 'docs/events.md', 'event-type', collectEventTypes(sources)),
    ...compare(
      sources,
      'docs/certification.md',
      'certification-id',
      collectCertifications(sources),
    ),
  ];
}

function compare(sources, page, rule, names) {
  const text = sources.find(({ path }) => path === page)?.text;
  if (text === undefined) return [`${rule}: ${page} does not exist`];
  if (names.size === 0) return [`${rule}: no name was found in the code; the check is blind`];
  return [...names]
    .filter((name) => !new RegExp(`\`${name}\``).test(text))
    .map((name) => `${rule}: ${page} does not mention \`${name}\``);
}

function collectErrorKinds(sources) {
  const families = sources.filter(
    ({ path, isPackage, isTest }) => isPackage && !isTest && /\/errors\/|-error\.ts$/.test(path),
  );
  return collectLiterals(families, 'kind');
}

function collectEventTypes(sources) {
  return collectLiterals(
    sources.filter(({ path }) => /\/(turn-event|chat-event|builder-event)\.ts$/.test(path)),
    'type',
  );
}

function collectCertifications(sources) {
  const names = new Set();
  for (const { syntax } of sources.filter(({ path }) =>
    path.startsWith(`${core}/certification/requirements`),
  )) {
    walk(syntax, (node) => {
      if (ts.isPropertyAssignment(node) && /^Cert[A-Z]/.test(node.name.getText())) {
        names.add(node.name.getText());
      }
    });
  }
  return names;
}

/** The string literals given to a property, as its type (`kind: 'a' | 'b'`) or as its value (`kind = 'a'`). */
function collectLiterals(sources, property) {
  const names = new Set();
  for (const { syntax } of sources) {
    walk(syntax, (node) => {
      const isProperty =
        ts.isPropertySignature(node) ||
        ts.isPropertyDeclaration(node) ||
        ts.isPropertyAssignment(node);
      if (!isProperty || node.name.getText() !== property) return;
      for (const part of [node.type, node.initializer].filter(Boolean)) {
        walk(part, (inner) => {
          if (ts.isStringLiteral(inner)) names.add(inner.text);
        });
      }
    });
  }
  return names;
}
