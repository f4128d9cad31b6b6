// Writes of edited objects: first as dry runs, which validate and show what would change.

import { Failure, type Json, type KubeObject, resourcePath, send, withQuery } from './api';
import type { Kind } from './discovery';
import { applied, MANAGER, same } from './fields';
import { parseField, type Problem, type YamlText } from './positions';
import type { KindSchema, Step } from './schema';

/** How an object is written: server-side apply, or a replacement of the whole object. */
export type Mode = 'apply' | 'replace' | 'create';

export interface Conflict {
  field: string;
  manager: string;
  path: Step[];
}

export interface Edit {
  kind: Kind;
  mode: Mode;
  /** The object as the server has it; none for a new one. */
  live?: KubeObject;
  edited: KubeObject;
  schema?: KindSchema;
}

export interface Verdict {
  problems: Problem[];
  conflicts: Conflict[];
  /** The object as the write would leave it. */
  result?: KubeObject;
  /** Warnings of the server. */
  warnings: string[];
}

interface Options {
  dryRun: boolean;
  force?: boolean;
  signal?: AbortSignal;
}

interface Written {
  object: KubeObject;
  warnings: string[];
}

/** The configuration that an edit sends. */
export function configuration(edit: Edit): KubeObject {
  return edit.mode === 'apply' && edit.live ? applied(edit.live, edit.edited, edit.schema) : edit.edited;
}

export async function write(edit: Edit, { dryRun, force, signal }: Options): Promise<Written> {
  const { kind, mode, live, edited } = edit;
  const { name, namespace } = { ...edited.metadata, ...(live && { name: live.metadata.name, namespace: live.metadata.namespace }) };
  const parameters = { dryRun: dryRun ? 'All' : undefined, fieldManager: MANAGER, fieldValidation: 'Strict', pretty: false };
  const path = (object?: string) => resourcePath(kind.group, kind.version, kind.resource, kind.namespaced ? namespace : undefined, object);
  const sent = { body: JSON.stringify(configuration(edit)), signal };
  let response: Response;
  if (mode === 'create') {
    response = await send(withQuery(path(), parameters), { ...sent, method: 'POST' });
  } else if (mode === 'apply') {
    const type = 'application/apply-patch+yaml';
    response = await send(withQuery(path(name), { ...parameters, force: force || undefined }), { ...sent, method: 'PATCH', type });
  } else {
    const body = JSON.stringify(replacement(live!, edited));
    response = await send(withQuery(path(name), parameters), { body, signal, method: 'PUT' });
  }
  return { object: await response.json(), warnings: warningsOf(response) };
}

/** The whole object, with what the editor leaves out. */
function replacement(live: KubeObject, edited: KubeObject): KubeObject {
  const { resourceVersion, uid } = live.metadata;
  const status = live.status === undefined ? {} : { status: live.status };
  return { ...edited, metadata: { ...edited.metadata, resourceVersion, uid }, ...status };
}

/** The texts of `Warning` headers: `299 - "text"`. */
function warningsOf(response: Response): string[] {
  const header = response.headers.get('Warning') ?? '';
  return [...header.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text.replace(/\\(.)/g, '$1'));
}

/** Tries a write. Conflicts are collected, and the result is that of a forced write. */
export async function tryOut(edit: Edit, text: YamlText, index: number, signal: AbortSignal): Promise<Verdict> {
  try {
    const { object, warnings } = await write(edit, { dryRun: true, signal });
    return { problems: [], conflicts: [], result: object, warnings };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const conflicts = conflictsOf(error);
    if (conflicts.length === 0) return { problems: problemsOf(error, edit, text, index), conflicts, warnings: [] };
    const problems = conflicts.map(({ field, manager, path }): Problem => ({
      ...text.range(path, text.documents[index]),
      severity: 'warning',
      source: 'server',
      message: `${field} belongs to ${manager}`,
    }));
    try {
      const { object, warnings } = await write(edit, { dryRun: true, force: true, signal });
      return { problems, conflicts, result: object, warnings };
    } catch (forced) {
      if (!(forced instanceof Failure)) throw forced;
      return { problems: [...problemsOf(forced, edit, text, index), ...problems], conflicts, warnings: [] };
    }
  }
}

function conflictsOf(failure: Failure): Conflict[] {
  if (failure.code !== 409) return [];
  return failure.causes
    .filter((cause) => cause.reason === 'FieldManagerConflict')
    .map((cause) => {
      const manager = cause.message?.match(/conflict with ("[^"]*"(?: with subresource "[^"]*")?)/)?.[1].replaceAll('"', '') ?? 'another manager';
      const field = (cause.field ?? '').replace(/^\./, '');
      return { field, manager, path: conflictPath(field) };
    });
}

/** The path of a conflict, without the selectors of list elements: `spec.containers[name="a"].image`. */
function conflictPath(field: string): Step[] {
  return parseField(field.replace(/\[[^\]]*=[^\]]*\]/g, ''));
}

/** The problems of a refused write, each at its field. */
export function problemsOf(failure: Failure, edit: Edit, text: YamlText, index = 0): Problem[] {
  const document = text.documents[index];
  const at = (path: Step[], message: string): Problem => ({ ...text.range(path, document), severity: 'error', source: 'server', message });
  const causes = failure.causes.filter((cause) => cause.field && cause.reason !== 'FieldManagerConflict');
  if (causes.length > 0) return causes.map((cause) => at(parseField(cause.field!), `${cause.field}: ${cause.message}`));
  const strict = [...failure.message.matchAll(/(unknown field|duplicate field|json: cannot unmarshal [^"]*) ?"([^"]+)"/g)];
  if (strict.length > 0) {
    const config = configuration(edit);
    return strict.map(([whole, , field]) => at(translated(config, edit.edited, parseField(field)), whole));
  }
  return [at([], failure.message)];
}

/** The path in the edited object of a path in its configuration, whose lists may be shorter. */
function translated(config: Json, edited: Json, path: Step[]): Step[] {
  return path.map((step) => {
    let to = step;
    if (typeof step === 'number' && Array.isArray(edited)) {
      const element = config?.[step];
      const keys = Object.keys(element ?? {}).filter((key) => typeof element[key] !== 'object');
      const found = edited.findIndex((one) => keys.length > 0 && keys.every((key) => same(one?.[key], element[key])));
      if (found >= 0) to = found;
    }
    config = config?.[step];
    edited = edited?.[to];
    return to;
  });
}
