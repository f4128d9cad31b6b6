import { useMemo, useState } from 'preact/hooks';
import { useShared } from '../context';
import type { Group, Kind } from '../discovery';
import { address, CORE, groupOf, listAddress, useRoute } from '../route';

const PAGES: [string, string][] = [
  ['', 'Overview'],
  ['definitions', 'Definitions'],
  ['access', 'Access'],
  ['metrics', 'Metrics'],
];

/** Groups that are open at first. */
const OPEN = ['', 'apps', 'batch'];

export function Navigation() {
  const { groups } = useShared();
  const { parts } = useRoute();
  const [search, setSearch] = useState('');
  const found = useMemo(() => matching(groups, search), [groups, search]);
  const enter = (event: KeyboardEvent) => {
    const first = found[0]?.kinds[0];
    if (event.key === 'Enter' && search && first) location.hash = listAddress(first);
    if (event.key === 'Escape') setSearch('');
  };
  return (
    <nav class="side" aria-label="Main">
      <ul class="pages">
        {PAGES.map(([path, title]) => (
          <li key={path}>
            <a href={address([path].filter(Boolean))} aria-current={(parts[0] ?? '') === path ? 'page' : undefined}>{title}</a>
          </li>
        ))}
        <li><a href="/swagger-ui/">API documents <span class="muted" aria-hidden="true">↗</span></a></li>
      </ul>
      <input id="search" type="search" placeholder="Find a kind  /" aria-label="Find a kind" value={search}
        onInput={(event) => setSearch(event.currentTarget.value)} onKeyDown={enter} />
      <div class="groups">
        {found.map((group) => (
          <GroupKinds key={group.name} group={group} isOpen={search !== ''} parts={parts} />
        ))}
        {search && found.length === 0 && <p class="muted pad">No kind matches.</p>}
      </div>
    </nav>
  );
}

function GroupKinds({ group, isOpen, parts }: { group: Group; isOpen: boolean; parts: string[] }) {
  const isCurrent = (kind: Kind) =>
    ['r', 'o', 'new', 'explain'].includes(parts[0] ?? '') && groupOf(parts[1] ?? '') === kind.group && [kind.resource, kind.kind].includes(parts[3] ?? '');
  const open = isOpen || OPEN.includes(group.name) || group.kinds.some(isCurrent);
  return (
    <details open={open}>
      <summary>{group.name || CORE}</summary>
      <ul>
        {group.kinds.filter((kind) => kind.verbs.includes('list')).map((kind) => (
          <li key={kind.resource}>
            <a href={listAddress(kind)} aria-current={isCurrent(kind) ? 'page' : undefined}>{kind.kind}</a>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** The groups with kinds that match a text by kind, plural or short name; exact matches first. */
function matching(groups: Group[], search: string): Group[] {
  const text = search.trim().toLowerCase();
  if (!text) return groups.filter((group) => group.kinds.some((kind) => kind.verbs.includes('list')));
  const matches = (kind: Kind) =>
    kind.verbs.includes('list') &&
    (kind.kind.toLowerCase().includes(text) || kind.resource.includes(text) || kind.shortNames.some((name) => name.startsWith(text)));
  const rank = (kind: Kind) => (kind.shortNames.includes(text) || kind.resource === text ? 0 : kind.kind.toLowerCase().startsWith(text) ? 1 : 2);
  return groups
    .map((group) => ({ ...group, kinds: group.kinds.filter(matches).sort((a, b) => rank(a) - rank(b)) }))
    .filter((group) => group.kinds.length > 0)
    .sort((a, b) => rank(a.kinds[0]) - rank(b.kinds[0]));
}
