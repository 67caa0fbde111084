import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from '../run-command.mjs';
import { placeOf, textOf, walk } from './read-sources.mjs';

const providersFolder = 'packages/provider-core/src/providers';
const providerFields =
  /^(nativeSessionId|tmuxSession|projectDirId|native_session_id|tmux_session|project_dir_id)$/;
const builderStrings = [
  [/^--?(resume|session-id|continue|fork-session)\b/, 'builds a resume flag'],
  [/\btmux\b|^(new|has|kill|attach)-session\b/, 'names tmux'],
];
const builderWords =
  /^(learningLock|preValidation|kbReview|kbUpdateAgent|directLearning|continuationState)$/i;

/** A provider's id outside its folder and its line in `providers/index.ts`. */
export function findProviderIds(sources, exceptions) {
  const ids = listProviderIds();
  if (ids.length === 0)
    return [`provider-id: ${providersFolder} has no folder; the check is blind`];
  const pattern = new RegExp(`(?<![\\w-])(${ids.join('|')})(?![\\w-])`);
  return forEachNode(
    sources.filter(({ path }) => !path.startsWith(`${providersFolder}/`) && !(path in exceptions)),
    (node, source) => {
      const id = pattern.exec(textOf(node) ?? '')?.[1];
      return (
        id && `provider-id: ${placeOf(source, node)} names ${id} outside ${providersFolder}/${id}/`
      );
    },
  ).concat(findStrangers(sources, ids));
}

/** One provider's id inside another provider's folder. */
function findStrangers(sources, ids) {
  return forEachNode(
    sources.filter(({ path }) => path.startsWith(`${providersFolder}/`)),
    (node, source) => {
      const owner = ids.find((id) => source.path.startsWith(`${providersFolder}/${id}/`));
      if (!owner) return undefined;
      const text = textOf(node);
      return ids.includes(text) && text !== owner
        ? `provider-id: ${placeOf(source, node)} names ${text} inside ${owner}`
        : undefined;
    },
  );
}

/** What builder must leave to the layers below: a provider's fields, resume flags, tmux sessions. */
export function findBuilderOverreach(sources) {
  return forEachNode(inPackage(sources, 'builder'), (node, source) => {
    const place = () => placeOf(source, node);
    if (ts.isIdentifier(node) && providerFields.test(node.text)) {
      return `builder-reach: ${place()} reads the provider's field ${node.text}`;
    }
    if (ts.isPropertyAccessExpression(node) && isProviderAccess(node.expression)) {
      return `builder-reach: ${place()} reads a field of the provider's handle`;
    }
    const text = textOf(node);
    if (text === undefined) return undefined;
    // As an error's word for what is missing the name is fine; as a key it is a read.
    if (providerFields.test(text) && ts.isElementAccessExpression(node.parent)) {
      return `builder-reach: ${place()} reads the provider's field ${text}`;
    }
    const reach = builderStrings.find(([pattern]) => pattern.test(text));
    return reach && `builder-reach: ${place()} ${reach[1]}`;
  });
}

/** Names of workflow phases below builder, where nothing may know of them. */
export function findWorkflowWordsBelow(sources) {
  const below = [...inPackage(sources, 'provider-core'), ...inPackage(sources, 'agent')];
  return forEachNode(below, (node, source) =>
    ts.isIdentifier(node) && builderWords.test(node.text)
      ? `builder-word: ${placeOf(source, node)} knows of ${node.text}, which is builder's`
      : undefined,
  );
}

function isProviderAccess(node) {
  return ts.isPropertyAccessExpression(node) && node.name.text === 'provider';
}

function inPackage(sources, name) {
  return sources.filter(({ path }) => path.startsWith(`packages/${name}/src/`));
}

function listProviderIds() {
  if (!existsSync(join(root, providersFolder))) return [];
  return readdirSync(join(root, providersFolder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('__'))
    .map(({ name }) => name);
}

function forEachNode(sources, judge) {
  const complaints = [];
  for (const source of sources) {
    if (!source.isPackage || source.isTest) continue;
    walk(source.syntax, (node) => {
      const complaint = judge(node, source);
      if (complaint) complaints.push(complaint);
    });
  }
  return complaints;
}
