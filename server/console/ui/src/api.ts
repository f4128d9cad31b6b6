// Requests to the API of the server that this page comes from.

import { forget, key, KEY_HEADER } from './session';

/** Below this path the server reads the cookie of the session. */
export const BASE = '/ui/server';

export interface Cause {
  reason?: string;
  message?: string;
  field?: string;
}

export interface Status {
  kind: 'Status';
  code: number;
  reason?: string;
  message: string;
  details?: { causes?: Cause[]; retryAfterSeconds?: number };
}

/** A failure that the server reported, or that prevented an answer. */
export class Failure extends Error {
  constructor(readonly status: Status) {
    super(status.message);
  }
  get code() {
    return this.status.code;
  }
  get reason() {
    return this.status.reason ?? '';
  }
  get causes() {
    return this.status.details?.causes ?? [];
  }
}

/** A document of the server, whose form depends on its kind. */
export type Json = any;

export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: Metadata;
  [field: string]: Json;
}

export interface Metadata {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  managedFields?: ManagedFields[];
  [field: string]: Json;
}

export interface ManagedFields {
  manager: string;
  operation: string;
  apiVersion: string;
  time?: string;
  subresource?: string;
  fieldsV1?: Json;
}

export interface Sent {
  method?: string;
  body?: string;
  type?: string;
  accept?: string;
  signal?: AbortSignal;
}

/** Sends a request, and returns a successful response. */
export async function send(path: string, sent: Sent = {}): Promise<Response> {
  const headers: Record<string, string> = { [KEY_HEADER]: key(), Accept: sent.accept ?? 'application/json' };
  if (sent.body !== undefined) headers['Content-Type'] = sent.type ?? 'application/json';
  let response: Response;
  try {
    response = await fetch(BASE + path, { method: sent.method, body: sent.body, headers, signal: sent.signal });
  } catch (error) {
    if (sent.signal?.aborted) throw error;
    throw new Failure({ kind: 'Status', code: 0, message: 'The server cannot be reached.' });
  }
  if (response.ok) return response;
  if (response.status === 401) forget();
  throw new Failure(await statusOf(response));
}

async function statusOf(response: Response): Promise<Status> {
  const text = await response.text();
  try {
    const status = JSON.parse(text);
    if (status.kind === 'Status') return status;
  } catch {
    // Other parts of the server answer with text.
  }
  const message = text.trim() || `The server answered ${response.status}.`;
  return { kind: 'Status', code: response.status, message };
}

export async function get(path: string, accept?: string, signal?: AbortSignal): Promise<Json> {
  return (await send(path, { accept, signal })).json();
}

export async function text(path: string, accept = '*/*'): Promise<string> {
  return (await send(path, { accept })).text();
}

export async function post(path: string, body: Json): Promise<Json> {
  return (await send(path, { method: 'POST', body: JSON.stringify(body) })).json();
}

/** Appends the parameters that have a value. */
export function withQuery(path: string, parameters: Record<string, string | number | boolean | undefined>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

/** The path of a resource, of a collection in a namespace, or of an object. */
export function resourcePath(group: string, version: string, resource: string, namespace?: string, name?: string) {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const scope = namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${scope}/${resource}${name ? `/${encodeURIComponent(name)}` : ''}`;
}

/** Reads a stream of JSON documents, one per line, until it ends. */
export async function readLines(response: Response, each: (document: Json) => void): Promise<void> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim()) each(JSON.parse(line));
  }
}

/** The text of any error. */
export function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
