import { useEffect, useState } from 'preact/hooks';
import type { KubeObject } from '../api';
import { useShared } from '../context';
import { apiVersion, find, type Kind, kindOf } from '../discovery';
import { EditPane } from '../parts/editpane';
import { Notice } from '../parts/text';
import { go, groupOf, listAddress, objectAddress } from '../route';
import { type KindSchema, type Schema, schemaOf } from '../schema';
import { toYaml } from '../yaml';

/** Creates objects from YAML; several documents make several objects. */
export function NewPage({ parts, query }: { parts: string[]; query: URLSearchParams }) {
  const { groups, namespaces } = useShared();
  const [group, version, resource] = parts;
  const kind = resource ? find(groups, groupOf(group), version, resource) : undefined;
  const [namespace, setNamespace] = useState(query.get('ns') || 'default');
  const [initial, setInitial] = useState<string>();
  useEffect(() => {
    if (!kind) return setInitial('');
    schemaOf(kind.group, kind.version, kind.kind)
      .then((schema) => setInitial(skeleton(kind, namespace, schema)))
      .catch(() => setInitial(skeleton(kind, namespace, undefined)));
  }, []);
  const done = (objects: KubeObject[]) => {
    const [last] = objects.slice(-1);
    const of = kindOf(groups, last.apiVersion, last.kind);
    if (!of) return go('#/');
    go(objects.length === 1 ? objectAddress(of, last.metadata.namespace, last.metadata.name) : listAddress(of));
  };
  if (resource && !kind) return <><h1>Create</h1><Notice kind="error">The server does not serve {resource}.</Notice></>;
  return (
    <>
      <div class="title">
        <h1>{kind ? `Create ${kind.kind}` : 'Create'}</h1>
        <span class="grow" />
        {(!kind || kind.namespaced) && (
          <label>Namespace
            <input list="namespaces" value={namespace} size={16} onInput={(event) => setNamespace(event.currentTarget.value)} />
            <datalist id="namespaces">{namespaces.map((name) => <option key={name} value={name} />)}</datalist>
          </label>
        )}
      </div>
      {initial !== undefined && <EditPane initial={initial} namespace={namespace} done={done} />}
    </>
  );
}

/** A text to start with: the required fields of the kind. */
function skeleton(kind: Kind, namespace: string, schema: KindSchema | undefined): string {
  const metadata = { name: '', ...(kind.namespaced ? { namespace } : {}) };
  const rest = schema ? required(schema, schema.root, 0) : {};
  for (const name of ['apiVersion', 'kind', 'metadata', 'status']) delete rest[name];
  const spec = schema?.root.properties?.spec;
  if (spec && rest.spec === undefined) rest.spec = required(schema, spec, 1);
  return toYaml({ apiVersion: apiVersion(kind), kind: kind.kind, metadata, ...rest });
}

/** The required fields of a schema with empty values. */
function required(schema: KindSchema, field: Schema, depth: number): Record<string, unknown> {
  const resolved = schema.resolve(field);
  const names = resolved.required ?? [];
  return Object.fromEntries(names.map((name) => [name, empty(schema, resolved.properties?.[name] ?? {}, depth + 1)]));
}

function empty(schema: KindSchema, field: Schema, depth: number): unknown {
  const resolved = schema.resolve(field);
  if (resolved.enum) return resolved.enum[0];
  switch (resolved.type) {
    case 'integer':
    case 'number':
      return resolved.minimum ?? 0;
    case 'boolean':
      return false;
    case 'array':
      return depth < 5 && resolved.items && schema.resolve(resolved.items).properties ? [required(schema, resolved.items, depth)] : [];
    case 'object':
      return depth < 5 ? required(schema, field, depth) : {};
    default:
      return '';
  }
}
