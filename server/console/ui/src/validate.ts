// Checks of a document by its schema, as the user types.

import { isMap, isScalar, isSeq, type Node, type Pair } from 'yaml';
import type { Problem, YamlText } from './positions';
import type { KindSchema, Schema, Step } from './schema';

/** At most as many problems are shown. */
const MAX_PROBLEMS = 100;
/** Fields that every object has, although some schemas leave them out. */
const OF_OBJECTS = ['apiVersion', 'kind', 'metadata'];

/** The problems that the schema finds in the first document. */
export function validate(text: YamlText, schema: KindSchema): Problem[] {
  const problems: Problem[] = [];
  const root = text.documents[0]?.contents;
  const check = new Check(text, schema, problems);
  if (root) check.value(root, schema.root, []);
  return problems.slice(0, MAX_PROBLEMS);
}

class Check {
  constructor(
    private readonly text: YamlText,
    private readonly schema: KindSchema,
    private readonly problems: Problem[],
  ) {}

  private report(path: Step[], message: string, severity: Problem['severity'] = 'error') {
    if (this.problems.length < MAX_PROBLEMS) {
      this.problems.push({ ...this.text.range(path), severity, message, source: 'schema' });
    }
  }

  value(node: Node, unresolved: Schema, path: Step[]) {
    const schema = this.schema.resolve(unresolved);
    if (isScalar(node) && node.value === null) return;
    if (isMap(node)) return this.map(node.items as Pair<Node, Node | null>[], schema, path);
    if (isSeq(node)) return this.list(node.items as Node[], schema, path);
    if (isScalar(node)) this.scalar(node.value, schema, path);
  }

  private map(pairs: Pair<Node, Node | null>[], schema: Schema, path: Step[]) {
    if (schema.type && schema.type !== 'object') return this.report(path, `must be ${article(schema)}, not a map`);
    const isOpen = schema['x-kubernetes-preserve-unknown-fields'] || schema.additionalProperties || !schema.properties;
    const present = new Set<string>();
    for (const pair of pairs) {
      if (!isScalar(pair.key)) continue;
      const name = String(pair.key.value);
      present.add(name);
      const below = [...path, name];
      const child = this.schema.child(schema, name);
      if (child) {
        if (pair.value) this.value(pair.value, child, below);
      } else if (!isOpen && !(path.length === 0 && OF_OBJECTS.includes(name))) {
        const similar = closest(name, Object.keys(schema.properties ?? {}));
        this.report(below, `unknown field "${name}"${similar ? `; did you mean "${similar}"?` : ''}`);
      }
    }
    for (const name of schema.required ?? []) {
      if (!present.has(name) && schema.properties?.[name]?.default === undefined) {
        this.report(path, `required field "${name}" is missing`);
      }
    }
  }

  private list(items: Node[], schema: Schema, path: Step[]) {
    if (schema.type && schema.type !== 'array') return this.report(path, `must be ${article(schema)}, not a list`);
    if (!schema.items) return;
    items.forEach((item, index) => item && this.value(item, schema.items!, [...path, index]));
  }

  private scalar(value: unknown, schema: Schema, path: Step[]) {
    if (schema['x-kubernetes-int-or-string'] || schema.format === 'int-or-string') {
      if (typeof value === 'boolean') this.report(path, 'must be an integer or a string');
      return;
    }
    if (schema.oneOf || schema.anyOf || !schema.type) return;
    const matches =
      schema.type === 'string' ? typeof value === 'string'
      : schema.type === 'integer' ? Number.isInteger(value) || typeof value === 'bigint'
      : schema.type === 'number' ? typeof value === 'number'
      : schema.type === 'boolean' ? typeof value === 'boolean'
      : false;
    if (!matches) return this.report(path, `must be ${article(schema)}, not ${JSON.stringify(value)}`);
    if (schema.enum && !schema.enum.includes(value)) {
      this.report(path, `must be one of ${schema.enum.map((one) => JSON.stringify(one)).join(', ')}`);
    }
    if (typeof value === 'number') {
      if (schema.minimum !== undefined && value < schema.minimum) this.report(path, `must be at least ${schema.minimum}`);
      if (schema.maximum !== undefined && value > schema.maximum) this.report(path, `must be at most ${schema.maximum}`);
    }
    if (typeof value === 'string') {
      if (schema.maxLength !== undefined && [...value].length > schema.maxLength) {
        this.report(path, `must have at most ${schema.maxLength} characters`);
      }
    }
  }
}

function article(schema: Schema): string {
  switch (schema.type) {
    case 'integer':
      return 'an integer';
    case 'array':
      return 'a list';
    case 'object':
      return 'a map';
    default:
      return `a ${schema.type}`;
  }
}

/** The name that is at most two edits away. */
export function closest(name: string, names: string[]): string | undefined {
  let best: string | undefined;
  let least = 3;
  for (const other of names) {
    const distance = edits(name.toLowerCase(), other.toLowerCase());
    if (distance < least && distance < name.length) [best, least] = [other, distance];
  }
  return best;
}

function edits(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return 3;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[b.length];
}
