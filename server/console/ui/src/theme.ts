// Light and dark: the system's choice, or the user's.

export type Theme = 'auto' | 'light' | 'dark';
const NAME = 'console.theme';

export function theme(): Theme {
  const saved = localStorage.getItem(NAME);
  return saved === 'light' || saved === 'dark' ? saved : 'auto';
}

export function applyTheme(chosen: Theme = theme()) {
  if (chosen === 'auto') localStorage.removeItem(NAME);
  else localStorage.setItem(NAME, chosen);
  document.documentElement.dataset.theme = chosen;
}
