import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { get, type KubeObject, message, resourcePath, send } from '../api';
import { useShared } from '../context';
import { find, type Kind } from '../discovery';
import { editable } from '../fields';
import { Dialog } from '../parts/dialog';
import { EditPane } from '../parts/editpane';
import { ObjectTable } from '../parts/objecttable';
import { Ownership } from '../parts/ownership';
import { age, Notice } from '../parts/text';
import { YamlEditor } from '../parts/yamleditor';
import { go, groupOf, listAddress, objectAddress } from '../route';
import { forgetSchemas } from '../schema';
import { LiveTable } from '../table';
import { toYaml } from '../yaml';

const TABS: [string, string][] = [['', 'Edit'], ['all', 'All fields'], ['owners', 'Ownership'], ['events', 'Events']];

/** One object: editor, all its fields, their owners, its events. */
export function ObjectPage({ parts, query }: { parts: string[]; query: URLSearchParams }) {
  const { groups } = useShared();
  const [group, version, resource, namespace, name] = parts;
  const kind = find(groups, groupOf(group ?? ''), version ?? '', resource ?? '');
  if (!kind || !name) return <><h1>{name}</h1><Notice kind="error">The server does not serve {resource} in {group}/{version}.</Notice></>;
  return <KindObject kind={kind} namespace={namespace === '-' ? undefined : namespace} name={name} tab={query.get('tab') ?? ''} />;
}

interface Place {
  kind: Kind;
  namespace?: string;
  name: string;
  tab: string;
}

function KindObject({ kind, namespace, name, tab }: Place) {
  const { refresh } = useShared();
  const path = resourcePath(kind.group, kind.version, kind.resource, namespace, name);
  const [object, setObject] = useState<KubeObject>();
  const [error, setError] = useState('');
  const [saved, setSaved] = useState('');
  const [latest, setLatest] = useState<string>();
  const [isDeleting, setDeleting] = useState(false);
  const load = useCallback(async () => {
    try {
      setObject(await get(`${path}?pretty=false`));
      setError('');
    } catch (failure) {
      setError(message(failure));
    }
  }, [path]);
  useEffect(() => void load(), [load]);
  // Follows the object, to show that someone else has changed it.
  useEffect(() => {
    if (!kind.verbs.includes('watch')) return;
    const collection = resourcePath(kind.group, kind.version, kind.resource, namespace);
    const table = new LiveTable(collection, { fields: `metadata.name=${name}` }, ({ rows, state }) => {
      if (state === 'live') setLatest(rows[0]?.object.metadata.resourceVersion ?? '');
    });
    return () => table.close();
  }, [path]);
  const initial = useMemo(() => (object ? toYaml(editable(object)) : ''), [object]);
  const done = ([written]: KubeObject[]) => {
    setObject(written);
    setSaved(`Written as resource version ${written.metadata.resourceVersion}.`);
    if (kind.group === 'apiextensions.k8s.io') {
      forgetSchemas();
      void refresh();
    }
  };
  const version = object?.metadata.resourceVersion;
  const isOutdated = !!version && latest !== undefined && latest !== version && newer(latest, version);
  return (
    <>
      <div class="title">
        <h1>{name}</h1>
        <span class="muted"><a href={listAddress(kind, { ns: namespace })}>{kind.kind}</a>{namespace && ` in ${namespace}`}</span>
        {object && <span class="muted">{age(object.metadata.creationTimestamp)} old</span>}
        {object?.metadata.deletionTimestamp && <span class="tag warn">deleting</span>}
        <span class="grow" />
        <button onClick={() => void load()}>Reload</button>
        {kind.verbs.includes('delete') && <button class="danger" onClick={() => setDeleting(true)}>Delete</button>}
      </div>
      <nav class="tabs" aria-label="Object">
        {TABS.map(([id, title]) => (
          <a key={id} href={objectAddress(kind, namespace, name, id)} aria-current={tab === id ? 'page' : undefined}>{title}</a>
        ))}
      </nav>
      {error && <Notice kind="error">{error}</Notice>}
      {isOutdated && (
        <Notice kind="info">{latest === '' ? 'The object has been deleted.' : <>The object has changed on the server. <button class="link" onClick={() => void load()}>Load it again</button></>}</Notice>
      )}
      {saved && !isOutdated && <Notice kind="good">{saved}</Notice>}
      {object && tab === '' && <EditPane key={version} initial={initial} live={object} kind={kind} done={done} />}
      {object && tab === 'all' && <div class="fill"><YamlEditor text={toYaml(object)} label="All fields of the object" readOnly /></div>}
      {object && tab === 'owners' && <Ownership object={object} />}
      {object && tab === 'events' && <Events object={object} />}
      {isDeleting && object && <DeleteDialog object={object} path={path} close={() => setDeleting(false)} done={() => go(listAddress(kind, { ns: namespace }))} />}
    </>
  );
}

/** Whether a version is a later one, or the object is gone. */
function newer(latest: string, version: string): boolean {
  return latest === '' || latest.length > version.length || (latest.length === version.length && latest > version);
}

function Events({ object }: { object: KubeObject }) {
  const { groups } = useShared();
  const kind = find(groups, '', 'v1', 'events');
  if (!kind) return <Notice kind="error">The server does not serve events.</Notice>;
  const { uid, namespace } = object.metadata;
  return (
    <ObjectTable kind={kind} path={resourcePath('', 'v1', 'events', namespace)} query={{ fields: `involvedObject.uid=${uid}` }}
      showNamespace={!namespace} links={false} empty="No events of this object." />
  );
}

interface DeleteProps {
  object: KubeObject;
  path: string;
  close: () => void;
  done: () => void;
}

function DeleteDialog({ object, path, close, done }: DeleteProps) {
  const [policy, setPolicy] = useState('Background');
  const [error, setError] = useState('');
  const remove = async () => {
    const preconditions = { uid: object.metadata.uid };
    const options = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: policy, preconditions };
    try {
      await send(path, { method: 'DELETE', body: JSON.stringify(options) });
      close();
      done();
    } catch (failure) {
      setError(message(failure));
    }
  };
  return (
    <Dialog title={`Delete ${object.metadata.name}?`} close={close}>
      <p>{object.kind} {object.metadata.namespace && <>in <b>{object.metadata.namespace}</b></>}. This cannot be undone.</p>
      <label>Objects that it owns
        <select value={policy} onChange={(event) => setPolicy(event.currentTarget.value)}>
          <option value="Background">are deleted after it</option>
          <option value="Foreground">are deleted before it</option>
          <option value="Orphan">stay</option>
        </select>
      </label>
      {error && <Notice kind="error">{error}</Notice>}
      <div class="buttons">
        <button onClick={close}>Cancel</button>
        <button class="danger" onClick={() => void remove()}>Delete</button>
      </div>
    </Dialog>
  );
}
