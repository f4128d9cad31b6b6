import { useEffect, useState } from 'preact/hooks';
import { message } from '../api';
import { useShared } from '../context';
import { find } from '../discovery';
import { elements, FieldDocumentation, FieldList } from '../parts/schemapanel';
import { Notice } from '../parts/text';
import { explainAddress, go, groupOf, listAddress } from '../route';
import { type KindSchema, schemaOf } from '../schema';

/** The schema of a kind, field by field, as `kubectl explain` shows it. */
export function ExplainPage({ parts }: { parts: string[] }) {
  const { groups } = useShared();
  const [group, version, kindName, ...names] = parts;
  const [schema, setSchema] = useState<KindSchema>();
  const [error, setError] = useState('');
  useEffect(() => {
    schemaOf(groupOf(group), version, kindName)
      .then((found) => (found ? setSchema(found) : setError('The server documents no schema of this kind.')))
      .catch((failure) => setError(message(failure)));
  }, [group, version, kindName]);
  const known = groups.find((one) => one.name === groupOf(group))?.kinds.find((one) => one.kind === kindName);
  const kind = known && find(groups, known.group, version, known.resource);
  if (!kind) return <><h1>{kindName}</h1><Notice kind="error">The server does not serve {kindName} in {group}/{version}.</Notice></>;
  let path: (string | number)[] = [];
  if (schema) for (const name of names) path = [...elements(schema, path), name];
  const at = schema?.at(path);
  return (
    <>
      <div class="title">
        <h1>{kindName}</h1><span class="muted mono">{group}/{version}</span>
        <a href={listAddress(kind)}>Objects</a>
      </div>
      {error && <Notice kind="error">{error}</Notice>}
      <nav class="crumbs" aria-label="Path">
        <a href={explainAddress(kind)}>{kindName}</a>
        {names.map((name, index) => <span key={index}> › <a href={explainAddress(kind, names.slice(0, index + 1))}>{name}</a></span>)}
      </nav>
      {schema && at && (
        <section class="card schema" aria-label="Schema">
          <FieldDocumentation schema={schema} field={at} />
          <FieldList schema={schema} field={at} open={(name) => go(explainAddress(kind, [...names, name]))} />
        </section>
      )}
      {schema && !at && <Notice kind="error">The schema has no such field.</Notice>}
    </>
  );
}
