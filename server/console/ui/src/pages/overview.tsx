import { useEffect, useState } from 'preact/hooks';
import { text } from '../api';
import { useShared } from '../context';
import { find, type Kind } from '../discovery';
import { listAddress, newAddress } from '../route';

const FREQUENT: [string, string][] = [
  ['', 'namespaces'], ['', 'pods'], ['apps', 'deployments'], ['', 'services'], ['', 'configmaps'], ['', 'secrets'],
  ['', 'serviceaccounts'], ['rbac.authorization.k8s.io', 'clusterroles'], ['', 'events'],
];

export function OverviewPage() {
  const { groups, user, version, namespaces } = useShared();
  const [checks, setChecks] = useState<[string, boolean][]>([]);
  useEffect(() => {
    text('/readyz?verbose')
      .then((lines) => setChecks([...lines.matchAll(/^\[([+-])\](\S+)/gm)].map(([, sign, name]) => [name, sign === '+'])))
      .catch(() => undefined);
  }, []);
  const kinds = groups.flatMap((group) => group.kinds);
  const failed = checks.filter(([, good]) => !good);
  const frequent = FREQUENT.map(([group, resource]) => kinds.find((kind) => kind.group === group && kind.resource === resource));
  return (
    <>
      <div class="title"><h1>Overview</h1><span class="grow" /><a class="button primary" data-create href={newAddress()}>Create</a></div>
      <div class="cards">
        <section class="card" aria-label="Server">
          <h2>Server</h2>
          <dl class="facts">
            <div><dt>Address</dt><dd>{location.host}</dd></div>
            <div><dt>API</dt><dd>{version}</dd></div>
            <div><dt>Groups</dt><dd>{groups.length}</dd></div>
            <div><dt>Kinds</dt><dd>{kinds.length}</dd></div>
            <div><dt>Namespaces</dt><dd>{namespaces.length || '–'}</dd></div>
            <div>
              <dt>Ready</dt>
              <dd>{checks.length === 0 ? '–' : failed.length === 0 ? <span class="good">● {checks.length} checks pass</span>
                : <span class="bad">● {failed.map(([name]) => name).join(', ')}</span>}</dd>
            </div>
          </dl>
        </section>
        <section class="card" aria-label="You">
          <h2>You</h2>
          <dl class="facts">
            <div><dt>User</dt><dd>{user?.username ?? '–'}</dd></div>
            <div><dt>Groups</dt><dd>{(user?.groups ?? []).map((group: string) => <span class="tag" key={group}>{group}</span>)}</dd></div>
            {user?.uid && <div><dt>UID</dt><dd class="mono">{user.uid}</dd></div>}
          </dl>
          <p class="muted">Every request of this page is authorized as this user. <a href="#/access">What you may do</a></p>
        </section>
        <section class="card" aria-label="Frequent kinds">
          <h2>Frequent kinds</h2>
          <ul class="links">
            {frequent.filter((kind): kind is Kind => !!kind).map((kind) => (
              <li key={kind.resource}><a href={listAddress(find(groups, kind.group, kind.version, kind.resource)!)}>{kind.kind}</a></li>
            ))}
          </ul>
        </section>
      </div>
      <section class="card" aria-label="Groups">
        <h2>Groups</h2>
        <table class="plain">
          <thead><tr><th>Group</th><th>Versions</th><th>Kinds</th></tr></thead>
          <tbody>
            {groups.map((group) => (
              <tr key={group.name}>
                <td class="mono">{group.name || 'core'}</td>
                <td>{[...new Set(group.kinds.flatMap((kind) => kind.versions))].join(', ')}</td>
                <td class="wrap">
                  {group.kinds.filter((kind) => kind.verbs.includes('list')).map((kind) => (
                    <a class="inline" key={kind.resource} href={listAddress(kind)}>{kind.kind}</a>
                  ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}
