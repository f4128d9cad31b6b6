import { useEffect, useMemo, useState } from 'preact/hooks';
import { resourcePath } from '../api';
import { useShared } from '../context';
import { find, type Kind } from '../discovery';
import { ObjectTable } from '../parts/objecttable';
import { address, explainAddress, groupOf, listAddress, newAddress, replace } from '../route';
import { Notice } from '../parts/text';

/** The objects of a kind. */
export function ListPage({ parts, query }: { parts: string[]; query: URLSearchParams }) {
  const { groups } = useShared();
  const [group, version, resource] = parts;
  const kind = find(groups, groupOf(group ?? ''), version ?? '', resource ?? '');
  if (!kind) return <><h1>{resource}</h1><Notice kind="error">The server does not serve {resource} in {group}/{version}.</Notice></>;
  return <KindList kind={kind} query={query} />;
}

function KindList({ kind, query }: { kind: Kind; query: URLSearchParams }) {
  const { namespaces } = useShared();
  const [ns, labels, fields] = ['ns', 'labels', 'fields'].map((name) => query.get(name) ?? '');
  const [draft, setDraft] = useState({ labels, fields });
  useEffect(() => setDraft({ labels, fields }), [labels, fields]);
  const path = useMemo(() => resourcePath(kind.group, kind.version, kind.resource, kind.namespaced ? ns : undefined), [kind, ns]);
  const to = (changes: Record<string, string>) => replace(listAddress(kind, { ns, labels, fields, ...changes }));
  return (
    <>
      <div class="title">
        <h1>{kind.kind}</h1>
        <span class="muted mono">{kind.group || 'core'}/</span>
        <select class="quiet" aria-label="Version" value={kind.version}
          onChange={(event) => (location.hash = address(['r', kind.group || 'core', event.currentTarget.value, kind.resource], { ns }))}>
          {kind.versions.map((version) => <option key={version}>{version}</option>)}
        </select>
        <a href={explainAddress(kind)}>Schema</a>
        <span class="grow" />
        {kind.verbs.includes('create') && <a class="button primary" data-create href={newAddress(kind, ns)}>Create</a>}
      </div>
      <form class="toolbar" onSubmit={(event) => (event.preventDefault(), to(draft))}>
        {kind.namespaced && (
          <label>Namespace
            <input list="namespaces" placeholder="all" value={ns} size={16} onChange={(event) => to({ ns: event.currentTarget.value.trim() })} />
            <datalist id="namespaces">{namespaces.map((name) => <option key={name} value={name} />)}</datalist>
          </label>
        )}
        <label>Labels
          <input placeholder="app=web,tier!=cache" value={draft.labels} size={24} spellcheck={false}
            onInput={(event) => setDraft({ ...draft, labels: event.currentTarget.value })} />
        </label>
        <label>Fields
          <input placeholder="metadata.name=web" value={draft.fields} size={24} spellcheck={false}
            onInput={(event) => setDraft({ ...draft, fields: event.currentTarget.value })} />
        </label>
        <button>Search</button>
        {(labels || fields) && <button type="button" class="quiet" onClick={() => to({ labels: '', fields: '' })}>Clear</button>}
      </form>
      <ObjectTable key={`${path}?${labels}&${fields}`} kind={kind} path={path} query={{ labels, fields }} showNamespace={kind.namespaced && !ns} />
    </>
  );
}
