// A list as the server's Table, kept current by a watch.

import { Failure, get, type Json, message, type Metadata, readLines, send, withQuery } from './api';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
/** Rows of one page. */
const PAGE = 200;
/** Changes that are remembered for pages that are not loaded yet; beyond, the list is read again. */
const MAX_CHANGES = 20_000;
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 15_000;

export interface Column {
  name: string;
  type: string;
  format: string;
  description: string;
  priority: number;
}

export interface Row {
  cells: Json[];
  object: { metadata: Metadata };
}

export interface Query {
  labels?: string;
  fields?: string;
}

export interface Snapshot {
  columns: Column[];
  rows: Row[];
  /** Whether the server has more objects than are loaded. */
  more: boolean;
  remaining?: number;
  state: 'loading' | 'live' | 'waiting' | 'failed';
  error?: string;
  /** Keys of rows that the latest events changed. */
  changed: Set<string>;
}

/** Identifies a row, in the order of lists: by namespace and name. */
export function rowKey(row: Row): string {
  const { namespace = '', name } = row.object.metadata;
  return `${namespace}/${name}`;
}

const EMPTY: Snapshot = { columns: [], rows: [], more: false, state: 'loading', changed: new Set() };

/** A list that follows the changes of its objects until it is closed. */
export class LiveTable {
  private snapshot: Snapshot = EMPTY;
  private continueToken = '';
  private version = '';
  /** The latest event of each object since the list; `null`: deleted. */
  private changes = new Map<string, Row | null>();
  private abort = new AbortController();
  private scheduled = false;

  constructor(
    private readonly path: string,
    private readonly query: Query,
    private readonly show: (snapshot: Snapshot) => void,
    /** Rows of the first page; a page of all rows has none after it. */
    private readonly limit = PAGE,
  ) {
    void this.run();
  }

  close() {
    this.abort.abort();
  }

  /** Loads the next page. */
  async more(): Promise<void> {
    if (!this.continueToken) return;
    try {
      const page = await this.page(this.continueToken);
      const rows = (page.rows as Row[]).flatMap((row) => this.current(row));
      this.continueToken = page.metadata.continue ?? '';
      this.set({
        rows: [...this.snapshot.rows, ...rows],
        more: this.continueToken !== '',
        remaining: page.metadata.remainingItemCount,
      });
      if (!this.continueToken) this.addNew();
    } catch (error) {
      if (error instanceof Failure && error.code === 410) return this.restart();
      this.set({ error: message(error) });
    }
  }

  private async run() {
    let pause = FIRST_PAUSE;
    while (!this.abort.signal.aborted) {
      try {
        if (!this.version) await this.list();
        pause = FIRST_PAUSE;
        await this.watch();
      } catch (error) {
        if (this.abort.signal.aborted) return;
        const code = error instanceof Failure ? error.code : 0;
        if (code === 410) {
          this.version = '';
          continue;
        }
        const isFinal = [400, 401, 403, 404, 405, 406].includes(code);
        this.set({ state: isFinal ? 'failed' : 'waiting', error: message(error) });
        if (isFinal) return;
        await new Promise((resolve) => setTimeout(resolve, pause));
        pause = Math.min(pause * 2, LONGEST_PAUSE);
      }
    }
  }

  private restart() {
    this.abort.abort();
    this.abort = new AbortController();
    this.version = '';
    void this.run();
  }

  private page(token: string): Promise<Json> {
    const { labels, fields } = this.query;
    const parameters = { limit: this.limit, continue: token, labelSelector: labels, fieldSelector: fields, pretty: false };
    return get(withQuery(this.path, parameters), TABLE, this.abort.signal);
  }

  private async list() {
    const page = await this.page('');
    this.changes.clear();
    this.version = page.metadata.resourceVersion;
    this.continueToken = page.metadata.continue ?? '';
    this.set({
      columns: page.columnDefinitions,
      rows: page.rows ?? [],
      more: this.continueToken !== '',
      remaining: page.metadata.remainingItemCount,
      state: 'live',
      error: undefined,
    });
  }

  private async watch() {
    const { labels, fields } = this.query;
    const parameters = { watch: true, allowWatchBookmarks: true, resourceVersion: this.version, pretty: false };
    const path = withQuery(this.path, { ...parameters, labelSelector: labels, fieldSelector: fields });
    const response = await send(path, { accept: TABLE, signal: this.abort.signal });
    this.set({ state: 'live', error: undefined });
    await readLines(response, (event) => this.apply(event));
  }

  private apply(event: Json) {
    if (event.type === 'ERROR') throw new Failure(event.object);
    const row: Row | undefined = event.object.rows?.[0];
    const version = row?.object?.metadata?.resourceVersion ?? event.object.metadata?.resourceVersion;
    if (version) this.version = version;
    if (event.type === 'BOOKMARK' || !row) return;
    const key = rowKey(row);
    const isDeleted = event.type === 'DELETED';
    if (this.changes.size >= MAX_CHANGES) return this.restart();
    this.changes.set(key, isDeleted ? null : row);
    const rows = this.snapshot.rows.slice();
    const { index, found } = position(rows, key);
    if (found) {
      if (isDeleted) rows.splice(index, 1);
      else rows[index] = row;
    } else if (!isDeleted && (index < rows.length || !this.snapshot.more)) {
      rows.splice(index, 0, row);
    } else {
      return;
    }
    this.snapshot = { ...this.snapshot, rows, changed: new Set(this.snapshot.changed).add(key) };
    this.schedule();
  }

  /** A row of a later page, as the events since the list leave it. */
  private current(row: Row): Row[] {
    const change = this.changes.get(rowKey(row));
    if (change === undefined) return [row];
    return change ? [change] : [];
  }

  /** Adds objects created since the list, once all of its pages are loaded. */
  private addNew() {
    const rows = this.snapshot.rows.slice();
    for (const [key, row] of this.changes) {
      const { index, found } = position(rows, key);
      if (row && !found) rows.splice(index, 0, row);
    }
    this.set({ rows });
  }

  private set(changes: Partial<Snapshot>) {
    this.snapshot = { ...this.snapshot, ...changes };
    this.schedule();
  }

  /** Shows at most one snapshot per frame. */
  private schedule() {
    if (this.scheduled || this.abort.signal.aborted) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      if (this.abort.signal.aborted) return;
      this.show(this.snapshot);
      this.snapshot = { ...this.snapshot, changed: new Set() };
    });
  }
}

/** Where the key is, or belongs, in rows sorted by key. */
function position(rows: Row[], key: string): { index: number; found: boolean } {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rowKey(rows[middle]) < key) low = middle + 1;
    else high = middle;
  }
  return { index: low, found: low < rows.length && rowKey(rows[low]) === key };
}
