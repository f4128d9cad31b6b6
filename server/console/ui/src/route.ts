// Addresses of pages, in the fragment of the address.

import { useEffect, useState } from 'preact/hooks';
import type { Kind } from './discovery';

export interface Route {
  parts: string[];
  query: URLSearchParams;
}

export function parse(hash: string): Route {
  const [path, query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  return { parts: path.split('/').filter(Boolean).map(decodeURIComponent), query: new URLSearchParams(query) };
}

export function address(parts: string[], query: Record<string, string | undefined> = {}): string {
  const set = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
  const text = new URLSearchParams(set).toString();
  return `#/${parts.map(encodeURIComponent).join('/')}${text ? `?${text}` : ''}`;
}

/** The name of a group in an address. */
export const CORE = 'core';
const named = (group: string) => (group === '' ? CORE : group);
export const groupOf = (part: string) => (part === CORE ? '' : part);

export function listAddress(kind: Kind, query: Record<string, string | undefined> = {}): string {
  return address(['r', named(kind.group), kind.version, kind.resource], query);
}

export function objectAddress(kind: Kind, namespace: string | undefined, name: string, tab?: string): string {
  return address(['o', named(kind.group), kind.version, kind.resource, namespace || '-', name], { tab });
}

export function newAddress(kind?: Kind, namespace?: string): string {
  if (!kind) return address(['new'], { ns: namespace });
  return address(['new', named(kind.group), kind.version, kind.resource], { ns: namespace });
}

export function explainAddress(kind: Kind, path: string[] = []): string {
  return address(['explain', named(kind.group), kind.version, kind.kind, ...path]);
}

export function go(to: string) {
  location.hash = to;
}

/** Changes the address without a new entry of the history. */
export function replace(to: string) {
  history.replaceState(null, '', to);
  dispatchEvent(new HashChangeEvent('hashchange'));
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parse(location.hash));
  useEffect(() => {
    const changed = () => setRoute(parse(location.hash));
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return route;
}
