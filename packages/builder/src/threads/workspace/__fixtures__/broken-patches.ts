import fc from 'fast-check';

/** Lines that give a patch another meaning, wherever they stand. */
const PLANTED = [
  ...['old mode 100644', 'new mode 120000', 'new mode 104755', 'new file mode 160000'],
  ...['new file mode 120000', 'new file mode 100666', 'deleted file mode 100644', 'index 0..1 100644'],
  ...['rename from a.txt', 'rename to b.txt', 'copy from a.txt', 'copy to /tmp/b', 'similarity index 50%'],
  ...['--- /dev/null', '+++ /dev/null', '--- a/../x', '+++ b/../x', '+++ b/.git/config', '+++ /etc/x'],
  ...['diff --git a/../x b/../x', 'diff --git a/a.txt b/a.txt', 'GIT binary patch', 'literal 3', 'delta 99'],
  ...['@@ -0,0 +1 @@', '@@ -1,999999 +1 @@', '@@ -1 +1 @@', '-- ', '\\ No newline at end of file', ''],
  ...['+x', '-x', ' x', 'HcmV?d00001', '\0', '\ufeff', '\r', 'From 1 Mon Sep 17 00:00:00 2001'],
];

const breakage = fc.record({
  kind: fc.constantFrom('plant', 'drop', 'double', 'swap', 'cut', 'flip', 'name'),
  at: fc.nat(10_000),
  planted: fc.constantFrom(...PLANTED),
  name: fc.constantFrom('../out', '/etc/x', '.git/config', 'a/../../x', 'd', 'A.TXT', 'sub', '.', ''),
});

/** What breaks a patch: each turns its lines into others. */
export const breakages = fc.array(breakage, { minLength: 1, maxLength: 3 });

type Breakage = ReturnType<typeof breakages.generate>['value'][number];

/** A patch after what breaks it. */
export function breakPatch(patch: string, wanted: readonly Breakage[]): string {
  return wanted.reduce(breakOnce, patch);
}

function breakOnce(patch: string, { kind, at, planted, name }: Breakage): string {
  const lines = patch.split('\n');
  const line = at % lines.length;
  const before = lines.slice(0, line);
  const [found = '', next = ''] = lines.slice(line);
  const after = lines.slice(line + 1);
  switch (kind) {
    case 'plant':
      return [...before, planted, found, ...after].join('\n');
    case 'drop':
      return [...before, ...after].join('\n');
    case 'double':
      return [...before, found, found, ...after].join('\n');
    case 'swap':
      return [...before, next, found, ...after.slice(1)].join('\n');
    case 'cut':
      return before.join('\n');
    case 'name':
      return patch.replaceAll('a.txt', name);
    default:
      return `${patch.slice(0, at % patch.length)}${planted}${patch.slice((at % patch.length) + 1)}`;
  }
}
