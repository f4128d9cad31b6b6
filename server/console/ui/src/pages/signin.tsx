import { useEffect, useState } from 'preact/hooks';
import { message } from '../api';
import { Notice } from '../parts/text';
import { isSignedIn, signIn } from '../session';

/** Signs in with a token, or with the code of the link that the server printed. */
export function SignInPage({ code }: { code?: string }) {
  const [token, setToken] = useState('');
  const [error, setError] = useState('');
  const [busy, setBusy] = useState(false);
  const submit = async (credential: { token: string } | { code: string }) => {
    setBusy(true);
    setError('');
    try {
      await signIn(credential);
    } catch (failure) {
      setError(message(failure));
    }
    setBusy(false);
  };
  useEffect(() => {
    document.title = 'Sign in · Console';
    if (!code) return;
    // The code must not stay in the history.
    history.replaceState(null, '', `${location.pathname}#/`);
    void submit({ code });
  }, []);
  return (
    <main class="signin">
      <form onSubmit={(event) => (event.preventDefault(), void submit({ token: token.trim() }))}>
        <h1><img src="./icon.svg" alt="" width="28" height="28" />Sign in</h1>
        <p class="muted">{location.host}</p>
        {error && <Notice kind="error">{error}</Notice>}
        {error && isSignedIn() && <p><a href="/ui/" onClick={() => location.reload()}>Continue as before</a></p>}
        <label for="token">Token</label>
        <input id="token" type="password" autocomplete="off" spellcheck={false} autofocus required value={token}
          onInput={(event) => setToken(event.currentTarget.value)} />
        <button class="primary" disabled={busy}>{busy ? 'Signing in…' : 'Sign in'}</button>
        <details>
          <summary>How to get a token</summary>
          <p>A server that keeps its own objects prints a link when it starts; the link signs in once. For a service account:</p>
          <pre>kubectl create token NAME</pre>
          <p>The server keeps the token. This browser receives a cookie that scripts cannot read.</p>
        </details>
      </form>
    </main>
  );
}
