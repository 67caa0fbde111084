const core = '^packages/provider-core/src';
const notTests = '\\.test(-d)?\\.ts$';

/** Inside provider-core a folder imports only from those named here, besides itself. */
const layers = {
  spec: [],
  errors: ['spec'],
  wire: ['spec', 'errors'],
  time: ['spec', 'errors'],
  models: ['spec', 'errors', 'wire', 'time'],
  state: ['spec', 'errors', 'wire', 'time'],
  transports: ['spec', 'errors', 'wire', 'time', 'state'],
  providers: ['spec', 'errors', 'wire', 'models'],
  continuation: ['spec', 'errors', 'wire', 'time', 'state', 'transports', 'providers', 'models'],
  certification: ['spec', 'errors', 'wire', 'time', 'state', 'providers'],
};

const layerRules = Object.entries(layers).map(([layer, below]) => ({
  name: `layer-${layer}`,
  comment: `${layer}/ imports only ${below.length > 0 ? below.join(', ') : 'nothing of ours'}.`,
  severity: 'error',
  from: { path: `${core}/${layer}/`, pathNot: notTests },
  to: { path: `${core}/`, pathNot: `${core}/(${[layer, ...below].join('|')})/` },
}));

const packageRules = [
  ['provider-core', 'agent|builder'],
  ['agent', 'builder'],
  ['builder', 'provider-core'],
].map(([from, to]) => ({
  name: `package-${from}`,
  comment: `${from} must not import ${to.replace('|', ' or ')}: a package imports only the one right below it.`,
  severity: 'error',
  from: { path: `^packages/${from}/` },
  to: { path: `^packages/(${to})/|^@holdfast/(${to})(/|$)` },
}));

/** What may import what, for dependency-cruiser; run by `check-boundaries.mjs`. */
export default {
  forbidden: [
    {
      name: 'no-cycle',
      comment: 'Types may refer to each other; what is loaded may not.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    ...packageRules,
    ...layerRules,
    {
      name: 'spec-is-pure',
      comment: 'spec/ holds types only and imports no module at all.',
      severity: 'error',
      from: { path: `${core}/spec/`, pathNot: notTests },
      to: { pathNot: `${core}/spec/` },
    },
    {
      name: 'no-provider-to-provider',
      severity: 'error',
      from: { path: `${core}/providers/([^/]+)/`, pathNot: notTests },
      to: { path: `${core}/providers/([^/]+)/`, pathNot: `${core}/providers/$1/` },
    },
    {
      name: 'no-deep-import',
      comment: 'A sibling package is imported through what it exports.',
      severity: 'error',
      from: { path: '^packages/([^/]+)/' },
      to: {
        path: '^packages/([^/]+)/',
        pathNot: '^packages/$1/|^packages/[^/]+/src/(index|wire|(certification|wire)/index)\\.ts$',
      },
    },
    {
      name: 'no-undeclared-dependency',
      severity: 'error',
      from: { path: '^packages/[^/]+/src', pathNot: notTests },
      to: {
        dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm-dev'],
        // An optional peer is declared for its user and for our tests.
        dependencyTypesNot: ['type-only', 'npm-peer'],
      },
    },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '__fixtures__' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    combinedDependencies: false,
    enhancedResolveOptions: {
      conditionNames: ['@holdfast/source', 'import', 'node', 'default', 'types'],
      exportsFields: ['exports'],
      extensions: ['.ts', '.js', '.mjs', '.json'],
    },
  },
};
