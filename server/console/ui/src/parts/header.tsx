import { useState } from 'preact/hooks';
import { useShared } from '../context';
import { signOut } from '../session';
import { applyTheme, theme, type Theme } from '../theme';

const NEXT: Record<Theme, Theme> = { auto: 'light', light: 'dark', dark: 'auto' };
const SIGNS: Record<Theme, string> = { auto: '◐', light: '☀', dark: '☾' };

export function Header() {
  const { user, version } = useShared();
  const [chosen, setChosen] = useState(theme());
  const change = () => {
    applyTheme(NEXT[chosen]);
    setChosen(NEXT[chosen]);
  };
  return (
    <header class="top">
      <a class="brand" href="#/"><img src="./icon.svg" alt="" width="20" height="20" />Console</a>
      <span class="muted server">{location.host} {version}</span>
      <span class="grow" />
      {user && (
        <span class="user" title={`Groups: ${(user.groups ?? []).join(', ')}`}>
          <span class="muted">Signed in as </span><b>{user.username}</b>
        </span>
      )}
      <button class="quiet" onClick={change} aria-label={`Colours: ${chosen}. Change`} title={`Colours: ${chosen}`}>{SIGNS[chosen]}</button>
      <button class="quiet" onClick={() => dispatchEvent(new CustomEvent('console:shortcuts'))} aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)">?</button>
      <button onClick={() => void signOut()}>Sign out</button>
    </header>
  );
}
