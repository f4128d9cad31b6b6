import { useEffect, useRef } from 'preact/hooks';
import { Editor } from '../editor';
import type { Problem } from '../positions';
import type { KindSchema, Step } from '../schema';

interface Props {
  /** The content at first, and again when it or `revision` changes; typing does not change it. */
  text: string;
  revision?: number;
  label: string;
  readOnly?: boolean;
  schema?: KindSchema;
  problems?: Problem[];
  changed?: (text: string) => void;
  moved?: (path: Step[]) => void;
  save?: () => void;
  /** Receives the editor, to move its cursor. */
  editor?: (editor: Editor) => void;
}

/** The editor as a component. */
export function YamlEditor(props: Props) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | null>(null);
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    const made = new Editor(host.current!, {
      text: props.text,
      label: props.label,
      readOnly: props.readOnly,
      changed: (text) => latest.current.changed?.(text),
      moved: (path) => latest.current.moved?.(path),
      save: () => latest.current.save?.(),
    });
    editor.current = made;
    props.editor?.(made);
    return () => made.destroy();
  }, []);
  useEffect(() => editor.current?.setText(props.text), [props.text, props.revision]);
  useEffect(() => editor.current?.setSchema(props.schema), [props.schema]);
  useEffect(() => editor.current?.show(props.problems ?? []), [props.problems]);
  return <div class="editor" ref={host} />;
}
