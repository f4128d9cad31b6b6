// The frame of all pages: sign-in, header, navigation, and the page of the address.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { get, type Json, message, post } from './api';
import { Shared, type SharedState } from './context';
import { discover, type Group } from './discovery';
import { AccessPage } from './pages/access';
import { DefinitionsPage } from './pages/definitions';
import { ExplainPage } from './pages/explain';
import { ListPage } from './pages/list';
import { MetricsPage } from './pages/metrics';
import { NewPage } from './pages/new';
import { ObjectPage } from './pages/object';
import { OverviewPage } from './pages/overview';
import { SignInPage } from './pages/signin';
import { Header } from './parts/header';
import { Navigation } from './parts/navigation';
import { Shortcuts } from './parts/shortcuts';
import { useRoute } from './route';
import { isSignedIn, onChange } from './session';

/** How often discovery is read again; unchanged documents are answered with 304. */
const DISCOVERY_INTERVAL = 10_000;

export function App() {
  const [signedIn, setSignedIn] = useState(isSignedIn());
  useEffect(() => onChange(() => setSignedIn(isSignedIn())), []);
  const code = location.hash.match(/^#code=(.+)$/)?.[1];
  return signedIn && !code ? <Console /> : <SignInPage code={code} />;
}

function Console() {
  const route = useRoute();
  const [groups, setGroups] = useState<Group[]>();
  const [error, setError] = useState('');
  const [user, setUser] = useState<Json>();
  const [version, setVersion] = useState('');
  const [namespaces, setNamespaces] = useState<string[]>([]);
  const refresh = useCallback(async () => {
    try {
      const found = await discover();
      setGroups((known) => (JSON.stringify(known) === JSON.stringify(found) ? known : found));
      setError('');
    } catch (failure) {
      setError(message(failure));
    }
    await get('/api/v1/namespaces?limit=500&pretty=false', 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io')
      .then((list) => setNamespaces(list.items.map((one: Json) => one.metadata.name)))
      .catch(() => undefined);
  }, []);
  useEffect(() => {
    void refresh();
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    post('/apis/authentication.k8s.io/v1/selfsubjectreviews', review)
      .then((answer) => setUser(answer.status.userInfo))
      .catch(() => undefined);
    get('/version').then((answer) => setVersion(answer.gitVersion)).catch(() => undefined);
    const timer = setInterval(refresh, DISCOVERY_INTERVAL);
    return () => clearInterval(timer);
  }, []);
  const shared: SharedState = { groups: groups ?? [], namespaces, user, version, refresh };
  return (
    <Shared.Provider value={shared}>
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), document.getElementById('main')?.focus())}>
        Skip to the content
      </a>
      <Header />
      <Navigation />
      <main id="main" tabIndex={-1}>
        {error && <p class="notice error" role="alert">{error}</p>}
        {groups ? <Page key={route.parts.slice(0, 6).join('/')} parts={route.parts} query={route.query} /> : !error && <p class="muted pad">Loading…</p>}
      </main>
      <Shortcuts />
    </Shared.Provider>
  );
}

function Page({ parts, query }: { parts: string[]; query: URLSearchParams }) {
  const place = useRef<HTMLDivElement>(null);
  const [name, ...rest] = parts;
  // A screen reader reads the title of a new page, as it does for a new document.
  useEffect(() => {
    const title = place.current?.querySelector('h1');
    document.title = `${title?.textContent ?? 'Console'} · Console`;
    title?.setAttribute('tabindex', '-1');
    if (document.activeElement === document.body || document.activeElement?.tagName === 'A') title?.focus();
  }, []);
  const page = () => {
    switch (name) {
      case 'r':
        return <ListPage parts={rest} query={query} />;
      case 'o':
        return <ObjectPage parts={rest} query={query} />;
      case 'new':
        return <NewPage parts={rest} query={query} />;
      case 'definitions':
        return <DefinitionsPage />;
      case 'explain':
        return <ExplainPage parts={rest} />;
      case 'access':
        return <AccessPage />;
      case 'metrics':
        return <MetricsPage />;
      default:
        return <OverviewPage />;
    }
  };
  return <div class="page" ref={place}>{page()}</div>;
}
