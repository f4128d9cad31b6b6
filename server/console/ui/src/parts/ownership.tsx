import { useMemo, useState } from 'preact/hooks';
import type { KubeObject, ManagedFields } from '../api';
import { ownersOf } from '../fields';
import { YamlText } from '../positions';
import { toYaml } from '../yaml';
import { age } from './text';

const name = (one: ManagedFields) => one.manager + (one.subresource ? ` (${one.subresource})` : '');

/** The managers of an object, and which of them owns each field. */
export function Ownership({ object }: { object: KubeObject }) {
  const managers = object.metadata.managedFields ?? [];
  const [only, setOnly] = useState(-1);
  const lines = useMemo(() => owned(object), [object]);
  return (
    <>
      <table class="plain managers">
        <thead><tr><th>Manager</th><th>Operation</th><th>Subresource</th><th>Version</th><th>Last write</th><th>Fields</th></tr></thead>
        <tbody>
          {managers.map((one, index) => (
            <tr key={index}>
              <td><span class={`dot m${index % 6}`} aria-hidden="true" />{one.manager}</td>
              <td>{one.operation}</td><td>{one.subresource ?? ''}</td><td class="mono">{one.apiVersion}</td>
              <td title={one.time}>{age(one.time)}</td>
              <td><button class="link" aria-pressed={only === index} onClick={() => setOnly(only === index ? -1 : index)}>
                {only === index ? 'Show all' : `Show ${count(lines.filter((line) => line.owners.includes(index)).length)}`}
              </button></td>
            </tr>
          ))}
        </tbody>
      </table>
      {managers.length === 0 && <p class="muted pad">No manager is recorded.</p>}
      <div class="owned" role="table" aria-label="Fields and their owners" tabIndex={0}>
        {lines.filter((line) => only < 0 || line.owners.includes(only)).map((line, index) => (
          <div class="line" role="row" key={index}>
            <span class="code" role="cell">{line.text}</span>
            <span class="owners" role="cell">
              {line.owners.map((owner) => <span class={`tag m${owner % 6}`} key={owner}>{name(managers[owner])}</span>)}
            </span>
          </div>
        ))}
      </div>
    </>
  );
}

function count(lines: number): string {
  return lines === 1 ? '1 line' : `${lines} lines`;
}

interface OwnedLine {
  text: string;
  /** Positions in `managedFields`. */
  owners: number[];
}

function owned(object: KubeObject): OwnedLine[] {
  const managers = object.metadata.managedFields ?? [];
  const { managedFields: _fields, ...metadata } = object.metadata;
  const text = new YamlText(toYaml({ ...object, metadata }));
  let offset = 0;
  return text.text.trimEnd().split('\n').map((line) => {
    const path = text.pathAt(offset + line.length - line.replace(/^[\s-]*/, '').length);
    offset += line.length + 1;
    return { text: line, owners: ownersOf(object, path).map((one) => managers.indexOf(one)) };
  });
}
