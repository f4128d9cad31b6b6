import { useMemo } from 'preact/hooks';
import type { KubeObject } from '../api';
import { difference } from '../diff';
import { toSortedYaml } from '../yaml';

/** Metadata that every write changes. */
const OF_WRITES = ['managedFields', 'resourceVersion', 'generation'];

function comparable(object: KubeObject | undefined): string {
  if (!object) return '';
  const metadata = Object.fromEntries(Object.entries(object.metadata).filter(([name]) => !OF_WRITES.includes(name)));
  return toSortedYaml({ ...object, metadata });
}

/** The lines that a write would change in the object on the server. */
export function Changes({ live, result }: { live?: KubeObject; result?: KubeObject }) {
  const lines = useMemo(() => (result ? difference(comparable(live), comparable(result)) : []), [live, result]);
  if (!result) return <p class="muted pad">The server shows here what would change, once it accepts the object.</p>;
  if (lines.length === 0) return <p class="muted pad">Nothing would change.</p>;
  const signs = { same: ' ', added: '+', removed: '−', gap: '' };
  return (
    <div class="diff" role="region" aria-label="What would change" tabIndex={0}>
      {lines.map((line, index) => (
        <div key={index} class={`line ${line.kind}`}>
          <span class="sign" aria-hidden="true">{signs[line.kind]}</span>
          {line.kind !== 'same' && line.kind !== 'gap' && <span class="hidden">{line.kind}: </span>}
          <span class="code">{line.kind === 'gap' ? '⋯' : line.text}</span>
        </div>
      ))}
    </div>
  );
}
