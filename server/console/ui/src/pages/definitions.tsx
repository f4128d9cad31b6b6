import { useEffect, useState } from 'preact/hooks';
import { get, type Json, message } from '../api';
import { useShared } from '../context';
import { find } from '../discovery';
import { Notice } from '../parts/text';
import { explainAddress, listAddress, newAddress, objectAddress } from '../route';

const [GROUP, RESOURCE] = ['apiextensions.k8s.io', 'customresourcedefinitions'];

/** The definitions of custom resources. */
export function DefinitionsPage() {
  const { groups, refresh } = useShared();
  const [items, setItems] = useState<Json[]>();
  const [error, setError] = useState('');
  const definitions = find(groups, GROUP, 'v1', RESOURCE);
  useEffect(() => void refresh(), []);
  useEffect(() => {
    get(`/apis/${GROUP}/v1/${RESOURCE}?pretty=false`)
      .then((list) => (setItems(list.items), setError('')))
      .catch((failure) => setError(message(failure)));
  }, [groups]);
  return (
    <>
      <div class="title">
        <h1>Definitions of custom resources</h1>
        <span class="grow" />
        {definitions && <a class="button primary" data-create href={newAddress(definitions)}>Create</a>}
      </div>
      {error && <Notice kind="error">{error}</Notice>}
      {items?.length === 0 && <p class="muted pad">No definitions.</p>}
      {items && items.length > 0 && (
        <div class="scroll">
          <table class="objects">
            <thead><tr><th>Name</th><th>Kind</th><th>Scope</th><th>Versions</th><th>Conditions</th><th><span class="hidden">Links</span></th></tr></thead>
            <tbody>{items.map((item) => <Definition key={item.metadata.uid} item={item} />)}</tbody>
          </table>
        </div>
      )}
    </>
  );
}

function Definition({ item }: { item: Json }) {
  const { groups } = useShared();
  const { group, names, scope, versions } = item.spec;
  const definitions = find(groups, GROUP, 'v1', RESOURCE)!;
  const kind = groups.find((one) => one.name === group)?.kinds.find((one) => one.resource === names.plural);
  return (
    <tr data-name={item.metadata.name}>
      <td><a href={objectAddress(definitions, undefined, item.metadata.name)}>{item.metadata.name}</a></td>
      <td>{names.kind}</td><td>{scope}</td>
      <td>{versions.map((one: Json) => (
        <span class="tag" key={one.name} title={[one.served ? 'served' : 'not served', one.storage && 'stored'].filter(Boolean).join(', ')}>
          {one.name}{one.storage ? ' ●' : ''}{one.served ? '' : ' (not served)'}{one.deprecated ? ' (deprecated)' : ''}
        </span>
      ))}</td>
      <td class="wrap">{(item.status?.conditions ?? []).filter((one: Json) => one.type !== 'NonStructuralSchema' || one.status === 'True').map((one: Json) => (
        <span class={`tag ${(one.status === 'True') === (one.type !== 'NonStructuralSchema' && one.type !== 'Terminating') ? 'good' : 'bad'}`} key={one.type} title={one.message}>
          {one.type}{one.status === 'True' ? '' : `: ${one.status}`}
        </span>
      ))}</td>
      <td>{kind && <><a class="inline" href={listAddress(kind)}>Objects</a><a class="inline" href={explainAddress(kind)}>Schema</a></>}</td>
    </tr>
  );
}
