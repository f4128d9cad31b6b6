import { useEffect, useState } from 'preact/hooks';
import { Dialog } from './dialog';

const KEYS: [string, string][] = [
  ['/', 'Find a kind; Enter opens the first one'],
  ['c', 'Create an object'],
  ['o', 'Overview'],
  ['f', 'Filter the rows of a list'],
  ['↑ ↓ Enter', 'Choose a row of a list, and open it'],
  ['Ctrl-S', 'In the editor: review the changes'],
  ['Esc, then Tab', 'Leave the editor'],
  ['F8', 'In the editor: the next problem'],
  ['Ctrl-Space', 'In the editor: complete a field'],
  ['?', 'This list'],
];

/** The shortcuts of all pages, and the dialog that lists them. */
export function Shortcuts() {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const show = () => setShown(true);
    const pressed = (event: KeyboardEvent) => {
      const target = event.composedPath()[0] as HTMLElement;
      const isTyping = target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName);
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
      const act: Record<string, () => void> = {
        '/': () => document.getElementById('search')?.focus(),
        f: () => document.getElementById('filter')?.focus(),
        c: () => document.querySelector<HTMLElement>('[data-create]')?.click(),
        o: () => (location.hash = '#/'),
        '?': show,
      };
      const action = act[event.key];
      if (action) {
        event.preventDefault();
        action();
      }
    };
    addEventListener('keydown', pressed);
    addEventListener('console:shortcuts', show);
    return () => {
      removeEventListener('keydown', pressed);
      removeEventListener('console:shortcuts', show);
    };
  }, []);
  if (!shown) return null;
  return (
    <Dialog title="Keyboard shortcuts" close={() => setShown(false)}>
      <dl class="keys">
        {KEYS.map(([keys, effect]) => (
          <div key={keys}><dt><kbd>{keys}</kbd></dt><dd>{effect}</dd></div>
        ))}
      </dl>
      <div class="buttons"><button onClick={() => setShown(false)}>Close</button></div>
    </Dialog>
  );
}
