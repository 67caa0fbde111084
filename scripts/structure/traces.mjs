// Written in halves, so that this file does not find itself.
const traces = [
  [new RegExp(`/${'work'}/(main|shared|\\.library)\\b`), 'a path of the machine it was written on'],
  [new RegExp(`/${'tmp'}/hf\\b|/${'root'}/`), 'a path of the machine it was written on'],
  [
    new RegExp(`\\b${'registry'}\\.[a-z0-9-]+\\.(org|com|net|io|dev)\\b`, 'i'),
    'the host of a package registry',
  ],
  [/^\s*"?(resolved|tarball)"?: .*https?:\/\//m, 'the address a package was fetched from'],
];

/** Files that name this machine or a registry's host; neither is true for whoever clones the repository. */
export function findTraces(sources) {
  return sources.flatMap(({ path, text }) =>
    traces
      .filter(([pattern]) => pattern.test(text))
      .map(([, what]) => `trace: ${path} names ${what}`),
  );
}
