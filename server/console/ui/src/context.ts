// What all pages share.

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Json } from './api';
import type { Group } from './discovery';

export interface SharedState {
  groups: Group[];
  namespaces: string[];
  /** The user as the server knows it (SelfSubjectReview). */
  user?: Json;
  version: string;
  /** Reads discovery and namespaces again. */
  refresh: () => Promise<void>;
}

export const Shared = createContext<SharedState>({ groups: [], namespaces: [], version: '', refresh: async () => undefined });

export function useShared(): SharedState {
  return useContext(Shared);
}
