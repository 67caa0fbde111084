import ts from 'typescript';
import { placeOf } from './read-sources.mjs';

/** A parameter object is documented by its fields, a schema by the type it describes, a limit by its name and unit. */
const speaksForItself = /(Request|Options|Limits|Report|Parts|Schema|Codec)$|^[A-Z0-9_]+$/;

/** Exported names without a sentence that says what a caller may rely on. */
export function findUndocumentedExports(sources) {
  return sources
    .filter(({ isPackage, isTest }) => isPackage && !isTest)
    .flatMap((source) =>
      source.syntax.statements
        .filter((statement) => isExportedDeclaration(statement) && !hasDocstring(statement))
        .filter((statement) => !speaksForItself.test(nameOf(statement)))
        .map(
          (statement) =>
            `docstring: ${placeOf(source, statement)} exports ${nameOf(statement)} without a docstring`,
        ),
    );
}

function isExportedDeclaration(statement) {
  return (
    ts.canHaveModifiers(statement) &&
    ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true
  );
}

/** An overload is documented by the first signature. */
function hasDocstring(statement) {
  if (ts.getJSDocCommentsAndTags(statement).length > 0) return true;
  if (!ts.isFunctionDeclaration(statement)) return false;
  return statement.parent.statements.some(
    (other) =>
      ts.isFunctionDeclaration(other) &&
      other.name?.text === statement.name?.text &&
      ts.getJSDocCommentsAndTags(other).length > 0,
  );
}

function nameOf(statement) {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations[0].name.getText();
  return statement.name?.getText() ?? 'a default';
}
