import { useEffect, useRef, useState } from 'preact/hooks';
import type { Json } from '../api';
import type { Kind } from '../discovery';
import { go, objectAddress } from '../route';
import { type Column, LiveTable, type Query, type Row, rowKey, type Snapshot } from '../table';
import { age, Notice } from './text';

interface Props {
  kind: Kind;
  path: string;
  query: Query;
  showNamespace: boolean;
  /** Whether rows lead to their objects. */
  links?: boolean;
  /** The text of an empty list. */
  empty?: string;
}

const STATES: Record<Snapshot['state'], string> = { loading: 'Loading…', live: 'Live', waiting: 'Reconnecting…', failed: 'Stopped' };

/** A table that follows its objects. */
export function ObjectTable({ kind, path, query, showNamespace, links = true, empty = 'No objects.' }: Props) {
  const [snapshot, setSnapshot] = useState<Snapshot>();
  const [filter, setFilter] = useState('');
  const [wide, setWide] = useState(false);
  const [, tick] = useState(0);
  const table = useRef<LiveTable | null>(null);
  useEffect(() => {
    table.current = new LiveTable(path, query, setSnapshot);
    const timer = setInterval(() => tick((count) => count + 1), 5000);
    return () => {
      table.current?.close();
      clearInterval(timer);
    };
  }, []);
  if (!snapshot) return <p class="muted pad">Loading…</p>;
  const columns = snapshot.columns.map((column, index) => ({ ...column, index })).filter((column) => wide || column.priority === 0);
  const text = filter.toLowerCase();
  const rows = text ? snapshot.rows.filter((row) => rowText(row).includes(text)) : snapshot.rows;
  const hasWide = snapshot.columns.some((column) => column.priority > 0);
  return (
    <>
      <div class="toolbar">
        <input id="filter" type="search" placeholder="Filter these rows  f" aria-label="Filter these rows" value={filter} onInput={(event) => setFilter(event.currentTarget.value)} onKeyDown={toRows} />
        {hasWide && <label class="check"><input type="checkbox" checked={wide} onChange={(event) => setWide(event.currentTarget.checked)} />All columns</label>}
        <span class="grow" />
        <span class="muted" role="status">{count(rows.length, snapshot, text !== '')}</span>
        <span class={`state ${snapshot.state}`}>{STATES[snapshot.state]}</span>
      </div>
      {snapshot.error && <Notice kind="error">{snapshot.error}</Notice>}
      {snapshot.state !== 'failed' && (
        <div class="scroll">
          <table class="objects" onKeyDown={moveRow}>
            <thead>
              <tr>
                {showNamespace && <th scope="col">Namespace</th>}
                {columns.map((column) => <th scope="col" key={column.name} title={column.description}>{column.name}</th>)}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <TableRow key={row.object.metadata.uid ?? rowKey(row)} row={row} columns={columns} kind={links ? kind : undefined}
                  showNamespace={showNamespace} isChanged={snapshot.changed.has(rowKey(row))} />
              ))}
            </tbody>
          </table>
          {rows.length === 0 && snapshot.state !== 'loading' && <p class="muted pad">{text ? 'No row matches.' : empty}</p>}
        </div>
      )}
      {snapshot.more && (
        <div class="buttons">
          <button onClick={() => void table.current?.more()}>Load more{snapshot.remaining ? ` (${snapshot.remaining} left)` : ''}</button>
        </div>
      )}
    </>
  );
}

function count(shown: number, snapshot: Snapshot, isFiltered: boolean): string {
  const all = `${snapshot.rows.length}${snapshot.more ? '+' : ''}`;
  return isFiltered ? `${shown} of ${all}` : `${all} object${all === '1' ? '' : 's'}`;
}

interface RowProps {
  row: Row;
  columns: (Column & { index: number })[];
  kind?: Kind;
  showNamespace: boolean;
  isChanged: boolean;
}

function TableRow({ row, columns, kind, showNamespace, isChanged }: RowProps) {
  const { name, namespace, creationTimestamp, deletionTimestamp } = row.object.metadata;
  const element = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    if (!isChanged || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    element.current?.animate([{ backgroundColor: 'var(--flash)' }, { backgroundColor: 'transparent' }], { duration: 1200 });
  }, [row]);
  const to = kind && objectAddress(kind, namespace, name);
  return (
    <tr ref={element} class={deletionTimestamp ? 'deleted' : undefined} data-name={name} onDblClick={() => to && go(to)}>
      {showNamespace && <td class="muted">{namespace}</td>}
      {columns.map((column) => (
        <td key={column.name} class={column.type === 'integer' ? 'number' : undefined}>
          {column.format === 'name' && to ? <a href={to}>{cell(row.cells[column.index])}</a>
            : column.name === 'Age' && creationTimestamp ? <span title={creationTimestamp}>{age(creationTimestamp)}</span>
            : cell(row.cells[column.index])}
        </td>
      ))}
    </tr>
  );
}

function cell(value: Json): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function rowText(row: Row): string {
  return `${row.object.metadata.namespace ?? ''} ${row.cells.map(cell).join(' ')}`.toLowerCase();
}

/** Down leads from the filter to the rows. */
function toRows(event: KeyboardEvent) {
  if (event.key === 'ArrowDown') document.querySelector<HTMLElement>('table.objects tbody a')?.focus();
}

/** Up and down move the focus between the links of rows. */
function moveRow(event: KeyboardEvent) {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  const links = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('tbody a')];
  const at = links.indexOf(document.activeElement as HTMLElement);
  const next = links[at + (event.key === 'ArrowDown' ? 1 : -1)];
  if (next) {
    event.preventDefault();
    next.focus();
  }
}
