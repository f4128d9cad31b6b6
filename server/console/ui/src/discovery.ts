// The kinds that the server serves, from aggregated discovery.

import { get } from './api';

export interface Kind {
  group: string;
  version: string;
  /** All versions of the resource, the preferred one first. */
  versions: string[];
  resource: string;
  kind: string;
  namespaced: boolean;
  verbs: string[];
  shortNames: string[];
  subresources: string[];
}

export interface Group {
  name: string;
  kinds: Kind[];
}

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** Groups with their kinds, the core group first; each kind in its preferred version. */
export async function discover(): Promise<Group[]> {
  const documents = await Promise.all([get('/api', AGGREGATED), get('/apis', AGGREGATED)]);
  const groups: Group[] = [];
  for (const item of documents.flatMap((document) => document.items ?? [])) {
    const name: string = item.metadata?.name ?? '';
    const kinds = new Map<string, Kind>();
    for (const { version, resources } of item.versions ?? []) {
      for (const resource of resources ?? []) {
        const known = kinds.get(resource.resource);
        if (known) {
          known.versions.push(version);
          continue;
        }
        kinds.set(resource.resource, {
          group: name,
          version,
          versions: [version],
          resource: resource.resource,
          kind: resource.responseKind?.kind ?? resource.resource,
          namespaced: resource.scope === 'Namespaced',
          verbs: resource.verbs ?? [],
          shortNames: resource.shortNames ?? [],
          subresources: (resource.subresources ?? []).map((one: { subresource: string }) => one.subresource),
        });
      }
    }
    groups.push({ name, kinds: [...kinds.values()].sort((a, b) => a.kind.localeCompare(b.kind)) });
  }
  return groups.sort((a, b) => weight(a.name) - weight(b.name) || a.name.localeCompare(b.name));
}

/** Kubernetes' groups before those of others, `apps` and `batch` before the long names. */
function weight(group: string): number {
  if (group === '') return 0;
  if (!group.includes('.')) return 1;
  return group.endsWith('.k8s.io') ? 3 : 2;
}

/** The kind of a resource, in the version of an address; `undefined` if the server does not serve it. */
export function find(groups: Group[], group: string, version: string, resource: string): Kind | undefined {
  const found = groups.find((one) => one.name === group)?.kinds.find((kind) => kind.resource === resource);
  return found?.versions.includes(version) ? { ...found, version } : undefined;
}

export function apiVersion(kind: { group: string; version: string }): string {
  return kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
}

/** The kind of an object by its `apiVersion` and `kind`. */
export function kindOf(groups: Group[], version: string, kind: string): Kind | undefined {
  const slash = version.indexOf('/');
  const [group, of] = slash < 0 ? ['', version] : [version.slice(0, slash), version.slice(slash + 1)];
  const found = groups.find((one) => one.name === group)?.kinds.find((one) => one.kind === kind);
  return found?.versions.includes(of) ? { ...found, version: of } : undefined;
}
