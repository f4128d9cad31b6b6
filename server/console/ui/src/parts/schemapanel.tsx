import { useEffect, useState } from 'preact/hooks';
import type { KindSchema, Schema, Step } from '../schema';

/** The documentation of the field at a path: its type, constraints, and the fields below it. */
export function SchemaPanel({ schema, path, kind }: { schema?: KindSchema; path: Step[]; kind: string }) {
  const [shown, setShown] = useState<Step[]>(path);
  useEffect(() => setShown(path), [path.join('/')]);
  if (!schema) return <p class="muted pad">The server has no schema of this kind.</p>;
  const known = longest(schema, shown);
  const at = schema.at(known)!;
  return (
    <div class="schema">
      <p class="crumbs" aria-label="Field">
        <button class="link" onClick={() => setShown([])}>{kind}</button>
        {known.map((step, index) => typeof step === 'string' && (
          <span key={index}> › <button class="link" onClick={() => setShown(known.slice(0, index + 1))}>{step}</button></span>
        ))}
      </p>
      <FieldDocumentation schema={schema} field={at} />
      <FieldList schema={schema} field={at} open={(name) => setShown([...elements(schema, known), name])} />
    </div>
  );
}

/** The part of a path that the schema knows. */
function longest(schema: KindSchema, path: Step[]): Step[] {
  for (let length = path.length; length > 0; length--) {
    if (schema.at(path.slice(0, length))) return path.slice(0, length);
  }
  return [];
}

/** The path of the elements, if the field is a list. */
export function elements(schema: KindSchema, path: Step[]): Step[] {
  const at = schema.at(path);
  return at && schema.resolve(at).items ? elements(schema, [...path, 0]) : path;
}

/** Type, description and constraints of a field. */
export function FieldDocumentation({ schema, field }: { schema: KindSchema; field: Schema }) {
  const resolved = schema.resolve(field);
  const facts: [string, string][] = [];
  const add = (name: string, value: unknown) => value !== undefined && facts.push([name, typeof value === 'string' ? value : JSON.stringify(value)]);
  if (resolved.enum) add('values', resolved.enum.join(', '));
  if (resolved.default !== undefined && JSON.stringify(resolved.default) !== '{}') add('default', resolved.default);
  for (const name of ['minimum', 'maximum', 'minLength', 'maxLength', 'pattern'] as const) add(name, resolved[name]);
  add('list', resolved['x-kubernetes-list-type']);
  add('keys', resolved['x-kubernetes-list-map-keys']?.join(', '));
  return (
    <>
      <p><span class="type">{schema.typeName(field)}</span></p>
      {resolved.description && <p class="description">{resolved.description}</p>}
      {facts.length > 0 && <dl class="facts">{facts.map(([name, value]) => <div key={name}><dt>{name}</dt><dd class="mono">{value}</dd></div>)}</dl>}
    </>
  );
}

/** The fields of an object; each leads to its own documentation. */
export function FieldList({ schema, field, open }: { schema: KindSchema; field: Schema; open: (name: string) => void }) {
  const required = schema.required(field);
  const fields = Object.entries(schema.fields(field)).sort(([a], [b]) => Number(required.includes(b)) - Number(required.includes(a)) || 0);
  if (fields.length === 0) return null;
  return (
    <ul class="fields">
      {fields.map(([name, one]) => (
        <li key={name}>
          <button class="link mono" onClick={() => open(name)}>{name}</button>
          {required.includes(name) && <span class="required" title="required"> required</span>}
          <span class="muted"> {schema.typeName(one)}</span>
          <div class="muted short">{schema.resolve(one).description}</div>
        </li>
      ))}
    </ul>
  );
}

