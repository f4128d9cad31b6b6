// Sign-in. The token stays in the server; this page holds one half of the session, and the browser
// holds the other half in a cookie that no script can read. Neither half is of use alone.

const KEY = 'console.key';
/** The header that carries this page's half of the session. A form or a link cannot send it. */
export const KEY_HEADER = 'X-Console-Key';
const PATH = '/ui/session';

/** Why a sign-in failed. */
export class SignInError extends Error {}

type Listener = () => void;
const listeners = new Set<Listener>();

export function key(): string {
  return localStorage.getItem(KEY) ?? '';
}

export function isSignedIn(): boolean {
  return key() !== '';
}

/** Calls `listener` when the user signs in or out, in this tab or in another one. */
export function onChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function changed() {
  for (const listener of listeners) listener();
}

addEventListener('storage', (event) => {
  if (event.key === KEY || event.key === null) changed();
});

/** Exchanges a token, or the code of the link that the server prints at its start. */
export async function signIn(credential: { token: string } | { code: string }): Promise<void> {
  const response = await fetch(PATH, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', [KEY_HEADER]: 'new' },
    body: JSON.stringify(credential),
  });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) {
    throw new SignInError(answer.message ?? `The server answered ${response.status}.`);
  }
  localStorage.setItem(KEY, answer.key);
  changed();
}

/** Forgets the session here, and in the server if it can be reached. */
export async function signOut(): Promise<void> {
  const headers = { [KEY_HEADER]: key() };
  forget();
  await fetch(PATH, { method: 'DELETE', headers }).catch(() => undefined);
}

/** Forgets the session here: the server no longer accepts it. */
export function forget() {
  localStorage.removeItem(KEY);
  changed();
}
