// The lines that differ between two texts.

export interface Line {
  kind: 'same' | 'added' | 'removed' | 'gap';
  text: string;
}

/** Unchanged lines around a change. */
const CONTEXT = 3;
/** Beyond this product of lines, the middle of the texts counts as changed as a whole. */
const MAX_CELLS = 4_000_000;

/** The difference, with unchanged lines only around changes. */
export function difference(before: string, after: string): Line[] {
  const [a, b] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const lines: Line[] = [
    ...a.slice(0, start).map(unchanged),
    ...changed(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...a.slice(a.length - end).map(unchanged),
  ];
  return folded(lines);
}

const unchanged = (text: string): Line => ({ kind: 'same', text });

/** Compares by the longest common subsequence. */
function changed(a: string[], b: string[]): Line[] {
  if (a.length * b.length > MAX_CELLS) {
    return [...a.map((text): Line => ({ kind: 'removed', text })), ...b.map((text): Line => ({ kind: 'added', text }))];
  }
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const below = (i + 1) * width + j;
      lengths[i * width + j] = a[i] === b[j] ? lengths[below + 1] + 1 : Math.max(lengths[below], lengths[i * width + j + 1]);
    }
  }
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push(unchanged(a[i++]));
      j++;
    } else if (i < a.length && (j === b.length || lengths[(i + 1) * width + j] >= lengths[i * width + j + 1])) {
      lines.push({ kind: 'removed', text: a[i++] });
    } else {
      lines.push({ kind: 'added', text: b[j++] });
    }
  }
  return lines;
}

function folded(lines: Line[]): Line[] {
  const shown = lines.map(() => false);
  lines.forEach((line, index) => {
    if (line.kind === 'same') return;
    for (let i = Math.max(0, index - CONTEXT); i <= Math.min(lines.length - 1, index + CONTEXT); i++) shown[i] = true;
  });
  const out: Line[] = [];
  lines.forEach((line, index) => {
    if (shown[index]) out.push(line);
    else if (out.at(-1)?.kind !== 'gap') out.push({ kind: 'gap', text: '' });
  });
  return out.some((line) => line.kind !== 'gap') ? out : [];
}
