import type preact from 'preact';

/** The time since a moment, as tables show it. */
export function age(time: string | undefined, now = Date.now()): string {
  if (!time) return '';
  const seconds = Math.max(0, Math.floor((now - Date.parse(time)) / 1000));
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours}h`;
  return `${Math.floor(hours / 24)}d`;
}

/** A path of fields as users write it: `spec.containers[0].image`. */
export function pathText(path: (string | number)[]): string {
  return path
    .map((step, index) => (typeof step === 'number' ? `[${step}]` : /^[\w-]+$/.test(step) ? `${index ? '.' : ''}${step}` : `["${step}"]`))
    .join('');
}

/** A message with its kind, read out by screen readers. */
export function Notice({ kind, children }: { kind: 'error' | 'info' | 'good'; children: preact.ComponentChildren }) {
  return <p class={`notice ${kind}`} role={kind === 'error' ? 'alert' : 'status'}>{children}</p>;
}
