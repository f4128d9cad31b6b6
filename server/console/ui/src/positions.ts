// YAML documents with the position of each field.

import { isMap, isScalar, isSeq, LineCounter, type Node, type Pair, parseAllDocuments, type Document } from 'yaml';
import type { Json } from './api';
import type { Step } from './schema';
import { YAML_1_1 } from './yaml';

export interface Range {
  from: number;
  to: number;
}

export interface Problem extends Range {
  severity: 'error' | 'warning';
  message: string;
  /** Who reports it: the syntax, the schema, or the server. */
  source: 'syntax' | 'schema' | 'server';
}

/** A text with one YAML document or several. */
export class YamlText {
  readonly documents: Document.Parsed[];
  readonly lines = new LineCounter();

  constructor(readonly text: string) {
    const options = { ...YAML_1_1, lineCounter: this.lines, prettyErrors: false, uniqueKeys: true, maxAliasCount: 100 } as const;
    const parsed = parseAllDocuments(text, options) as Document.Parsed[];
    this.documents = [...parsed].filter((document) => document.contents !== null || document.errors.length > 0);
  }

  /** Errors of the syntax. */
  problems(): Problem[] {
    return this.documents.flatMap((document) =>
      document.errors.map((error) => ({
        ...this.clip({ from: error.pos[0], to: error.pos[1] }),
        severity: 'error' as const,
        source: 'syntax' as const,
        message: error.message.split(' at line')[0],
      })),
    );
  }

  value(document = this.documents[0]): Json {
    return document?.toJS({ maxAliasCount: 100 });
  }

  /** The range of the deepest part of a path that the document has. */
  range(path: Step[], document = this.documents[0]): Range {
    let node: Node | null = document?.contents ?? null;
    let range: Range = { from: node?.range?.[0] ?? 0, to: this.lineEnd(node?.range?.[0] ?? 0) };
    for (const step of path) {
      if (isMap(node)) {
        const pair = (node.items as Pair<Node, Node | null>[]).find((item) => keyOf(item) === String(step));
        if (!pair) break;
        range = rangeOf(pair.key) ?? range;
        node = pair.value;
      } else if (isSeq(node) && typeof step === 'number') {
        const item = node.items[step] as Node | undefined;
        if (!item) break;
        node = item;
        range = { from: item.range?.[0] ?? range.from, to: this.lineEnd(item.range?.[0] ?? range.from) };
      } else {
        break;
      }
    }
    if (isScalar(node) && path.length > 0 && this.has(path, document)) range = rangeOf(node) ?? range;
    return this.clip(range);
  }

  private has(path: Step[], document: Document.Parsed): boolean {
    return document.hasIn(path);
  }

  private lineEnd(offset: number): number {
    const end = this.text.indexOf('\n', offset);
    return end < 0 ? this.text.length : end;
  }

  private clip({ from, to }: Range): Range {
    const start = Math.max(0, Math.min(from, this.text.length));
    const end = Math.max(start, Math.min(to, this.lineEnd(start)));
    return { from: start, to: end };
  }

  /** The path of the field at an offset. */
  pathAt(offset: number): Step[] {
    const path: Step[] = [];
    const document = this.documents.find((one) => offset <= (one.range?.[2] ?? Infinity)) ?? this.documents[0];
    let node: Node | null = document?.contents ?? null;
    for (let depth = 0; node && depth < 64; depth++) {
      if (isMap(node)) {
        const pairs = node.items as Pair<Node, Node | null>[];
        const pair = pairs.findLast((item) => (item.key?.range?.[0] ?? Infinity) <= offset);
        if (!pair) break;
        path.push(keyOf(pair));
        node = pair.value;
      } else if (isSeq(node)) {
        const index = (node.items as Node[]).findLastIndex((item) => (item?.range?.[0] ?? Infinity) <= offset);
        if (index < 0) break;
        path.push(index);
        node = node.items[index] as Node;
      } else {
        break;
      }
    }
    return path;
  }
}

function keyOf(pair: Pair<Node, Node | null>): string {
  return isScalar(pair.key) ? String(pair.key.value) : '';
}

function rangeOf(node: Node | null): Range | undefined {
  return node?.range ? { from: node.range[0], to: node.range[1] } : undefined;
}

/** Reads the path of a field as the server writes it: `spec.containers[0].env[KEY].value`. */
export function parseField(field: string): Step[] {
  const path: Step[] = [];
  const pattern = /\[(\d+)\]|\["?([^\]"]*)"?\]|([^.[\]]+)/g;
  for (const [, index, name, plain] of field.matchAll(pattern)) {
    if (index !== undefined) path.push(Number(index));
    else path.push(name ?? plain);
  }
  return path;
}
