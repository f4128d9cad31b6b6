// Schemas of kinds, from the OpenAPI v3 document of their group and version.

import { get } from './api';

export interface Schema {
  description?: string;
  type?: string;
  format?: string;
  enum?: unknown[];
  default?: unknown;
  required?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  allOf?: Schema[];
  oneOf?: Schema[];
  anyOf?: Schema[];
  $ref?: string;
  nullable?: boolean;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[];
  'x-kubernetes-list-type'?: string;
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-map-type'?: string;
  'x-kubernetes-patch-merge-key'?: string;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-embedded-resource'?: boolean;
}

interface Document {
  components?: { schemas?: Record<string, Schema> };
}

/** A step of a path: the name of a field, or the index of an element. */
export type Step = string | number;

/** The schema of a kind, with the document that its references lead into. */
export class KindSchema {
  private constructor(
    readonly root: Schema,
    private readonly document: Document,
  ) {}

  /** Loads the schema of a kind; `undefined` if the server documents none. */
  static async load(group: string, version: string, kind: string): Promise<KindSchema | undefined> {
    const path = group === '' ? `api/${version}` : `apis/${group}/${version}`;
    const index = await get('/openapi/v3');
    const address: string | undefined = index.paths?.[path]?.serverRelativeURL;
    if (!address) return undefined;
    const document: Document = await get(address);
    const matches = (schema: Schema) =>
      schema['x-kubernetes-group-version-kind']?.some(
        (one) => one.group === group && one.version === version && one.kind === kind,
      );
    const root = Object.values(document.components?.schemas ?? {}).find(matches);
    return root && new KindSchema(root, document);
  }

  /** The schema with its references and its only `allOf` resolved; the outer description counts. */
  resolve(schema: Schema): Schema {
    let resolved = schema;
    for (let depth = 0; depth < 16; depth++) {
      const inner = resolved.$ref ? this.referenced(resolved.$ref) : resolved.allOf?.length === 1 ? resolved.allOf[0] : undefined;
      if (!inner) return resolved;
      const { $ref: _ref, allOf: _allOf, ...outer } = resolved;
      resolved = { ...inner, ...outer };
    }
    return resolved;
  }

  private referenced(reference: string): Schema | undefined {
    return this.document.components?.schemas?.[reference.replace('#/components/schemas/', '')];
  }

  /** The name of the type that a schema refers to, such as `PodSpec`. */
  typeName(schema: Schema): string {
    const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
    if (reference) return reference.split('.').pop()!;
    const resolved = this.resolve(schema);
    if (resolved['x-kubernetes-int-or-string']) return 'integer or string';
    if (resolved.items) return `[]${this.typeName(resolved.items)}`;
    if (typeof resolved.additionalProperties === 'object') return `map of ${this.typeName(resolved.additionalProperties)}`;
    return [resolved.type ?? 'any', resolved.format && `(${resolved.format})`].filter(Boolean).join(' ');
  }

  /** The schema one step below. */
  child(schema: Schema, step: Step): Schema | undefined {
    const resolved = this.resolve(schema);
    if (typeof step === 'number') return resolved.items;
    const property = resolved.properties?.[step];
    if (property) return property;
    return typeof resolved.additionalProperties === 'object' ? resolved.additionalProperties : undefined;
  }

  /** The schema at a path below the root. */
  at(path: Step[]): Schema | undefined {
    let schema: Schema | undefined = this.root;
    for (const step of path) {
      if (!schema) return undefined;
      schema = this.child(schema, step);
    }
    return schema;
  }

  /** The fields of an object, or of the elements of a list of objects. */
  fields(schema: Schema): Record<string, Schema> {
    const resolved = this.resolve(schema);
    if (resolved.properties) return resolved.properties;
    if (resolved.items) return this.fields(resolved.items);
    if (typeof resolved.additionalProperties === 'object') return this.fields(resolved.additionalProperties);
    return {};
  }

  required(schema: Schema): string[] {
    const resolved = this.resolve(schema);
    return resolved.required ?? (resolved.items ? this.required(resolved.items) : []);
  }
}

const loaded = new Map<string, Promise<KindSchema | undefined>>();

/** As [`KindSchema.load`]; a schema is loaded once per change of the definitions. */
export function schemaOf(group: string, version: string, kind: string): Promise<KindSchema | undefined> {
  const id = `${group}/${version}/${kind}`;
  let schema = loaded.get(id);
  if (!schema) {
    schema = KindSchema.load(group, version, kind);
    loaded.set(id, schema);
    schema.catch(() => loaded.delete(id));
  }
  return schema;
}

/** Forgets schemas of custom resources, whose definitions may have changed. */
export function forgetSchemas() {
  loaded.clear();
}
