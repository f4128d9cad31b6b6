// Field ownership (`metadata.managedFields`), and the configuration that an edit applies.

import type { Json, KubeObject, ManagedFields } from './api';
import type { KindSchema, Schema, Step } from './schema';

/** The field manager of this page. */
export const MANAGER = 'console';

/** A set of fields as `fieldsV1` writes it. */
type FieldSet = { [member: string]: FieldSet };

/** Metadata that the server sets; an edit does not apply it. */
const OF_SERVER = ['managedFields', 'resourceVersion', 'uid', 'creationTimestamp', 'generation', 'deletionTimestamp',
  'deletionGracePeriodSeconds', 'selfLink'];

/** The member of a list of `fieldsV1` at an index: `k:{..}` by keys, `v:..` by value, or `i:..`. */
function memberOf(set: FieldSet, list: Json[], index: number): FieldSet | undefined {
  const element = list[index];
  for (const [name, members] of Object.entries(set)) {
    if (name.startsWith('k:')) {
      const keys = parsed(name.slice(2)) as Record<string, Json> | undefined;
      if (keys && element && Object.entries(keys).every(([key, value]) => element[key] === value)) return members;
    } else if (name.startsWith('v:')) {
      if (JSON.stringify(parsed(name.slice(2))) === JSON.stringify(element)) return members;
    } else if (name === `i:${index}`) {
      return members;
    }
  }
  return undefined;
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a set of fields has the field of a path, or an ancestor of it as a whole. */
export function owns(set: FieldSet | undefined, object: Json, path: Step[]): boolean {
  let [members, value] = [set, object];
  for (const step of path) {
    if (!members) return false;
    if (Object.keys(members).length === 0) return true; // a leaf: the manager owns it as a whole
    members = typeof step === 'number' ? memberOf(members, value ?? [], step) : members[`f:${step}`];
    value = value?.[step];
  }
  return members !== undefined && (Object.keys(members).length === 0 || '.' in members || isLeaf(value));
}

function isLeaf(value: Json): boolean {
  return value === null || typeof value !== 'object';
}

/** The managers that own the field of a path. */
export function ownersOf(object: KubeObject, path: Step[]): ManagedFields[] {
  return (object.metadata.managedFields ?? []).filter((one) => owns(one.fieldsV1, object, path));
}

/** An object without what the server sets in its metadata, and without its status. */
export function editable(object: KubeObject): KubeObject {
  const metadata = Object.fromEntries(Object.entries(object.metadata ?? {}).filter(([name]) => !OF_SERVER.includes(name)));
  const { status: _status, apiVersion, kind, metadata: _metadata, ...rest } = object;
  return { apiVersion, kind, metadata: metadata as KubeObject['metadata'], ...rest };
}

/**
 * The configuration that applies an edit: the fields that differ from the live object, and those that this page applied
 * before. It leaves the other fields to their owners.
 */
export function applied(live: KubeObject, edited: KubeObject, schema: KindSchema | undefined): KubeObject {
  const own = (live.metadata.managedFields ?? []).find(
    (one) => one.manager === MANAGER && one.operation === 'Apply' && !one.subresource,
  )?.fieldsV1;
  const merge = new Merge(schema);
  const changed = merge.difference(editable(live), editable(edited), own, schema?.root) ?? {};
  const { name, namespace } = edited.metadata ?? {};
  const metadata = { ...(changed.metadata ?? {}), name, ...(namespace ? { namespace } : {}) };
  const { apiVersion, kind } = edited;
  return { ...changed, apiVersion, kind, metadata };
}

/** Fields that an edit removes and that other managers own: applying leaves them in place. */
export function removedOfOthers(live: KubeObject, edited: KubeObject): Step[][] {
  const found: Step[][] = [];
  const visit = (before: Json, after: Json, path: Step[]) => {
    if (!isMap(before) || !isMap(after)) return;
    for (const [name, value] of Object.entries(before)) {
      const below = [...path, name];
      if (after[name] === undefined) {
        const others = ownersOf(live, below).filter((one) => one.manager !== MANAGER || one.operation !== 'Apply');
        if (others.length > 0 || !isLeaf(value)) found.push(below);
      } else {
        visit(value, after[name], below);
      }
    }
  };
  visit(editable(live), editable(edited), []);
  return found;
}

function isMap(value: Json): value is Record<string, Json> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** Compares values by the list and map types of their schema. */
class Merge {
  constructor(private readonly schema: KindSchema | undefined) {}

  /** The parts of `after` that differ from `before` or are in `own`; `undefined` if there are none. */
  difference(before: Json, after: Json, own: FieldSet | undefined, schema: Schema | undefined): Json {
    const resolved = schema && this.schema?.resolve(schema);
    if (isMap(before) && isMap(after) && resolved?.['x-kubernetes-map-type'] !== 'atomic') {
      return this.map(before, after, own, schema);
    }
    const keys = this.keysOf(resolved);
    if (keys && Array.isArray(before) && Array.isArray(after)) return this.list(before, after, own, resolved!, keys);
    return own !== undefined || !same(before, after) ? after : undefined;
  }

  private map(before: Record<string, Json>, after: Record<string, Json>, own: FieldSet | undefined, schema?: Schema): Json {
    const parts: Record<string, Json> = {};
    for (const [name, value] of Object.entries(after)) {
      const child = schema && this.schema?.child(schema, name);
      const part = this.difference(before[name], value, own?.[`f:${name}`], child);
      if (part !== undefined) parts[name] = part;
    }
    if (Object.keys(parts).length > 0 || (own && '.' in own)) return parts;
    return undefined;
  }

  private list(before: Json[], after: Json[], own: FieldSet | undefined, schema: Schema, keys: string[]): Json {
    const parts: Json[] = [];
    after.forEach((element, index) => {
      const isSame = (other: Json) => keys.every((key) => same(this.keyValue(schema, other, key), this.keyValue(schema, element, key)));
      const old = before.find(isSame);
      if (old === undefined) {
        parts.push(element);
        return;
      }
      const part = this.difference(old, element, own && memberOf(own, after, index), schema.items);
      if (part === undefined) return;
      const named = Object.fromEntries(keys.filter((key) => element[key] !== undefined).map((key) => [key, element[key]]));
      parts.push({ ...named, ...part });
    });
    return parts.length > 0 ? parts : undefined;
  }

  /** The value of a key; ports have one by default. */
  private keyValue(schema: Schema, element: Json, key: string): Json {
    const property = schema.items && this.schema?.child(schema.items, key);
    return element?.[key] ?? (property && this.schema?.resolve(property).default);
  }

  private keysOf(schema: Schema | undefined): string[] | undefined {
    return schema?.['x-kubernetes-list-type'] === 'map' ? schema['x-kubernetes-list-map-keys'] : undefined;
  }
}

/** Whether two values are equal, regardless of the order of fields. */
export function same(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((one, index) => same(one, b[index]));
  if (isMap(a) && isMap(b)) {
    const names = Object.keys(a);
    return names.length === Object.keys(b).length && names.every((name) => name in b && same(a[name], b[name]));
  }
  return false;
}
