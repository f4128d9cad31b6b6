// The YAML editor: CodeMirror in a shadow root. There it uses constructed style sheets, which the
// Content-Security-Policy allows; in the document it would insert style elements.

import { autocompletion, type Completion, type CompletionContext, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, foldGutter, foldKeymap, HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, hoverTooltip, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { type Problem, YamlText } from './positions';
import type { KindSchema, Schema, Step } from './schema';

const theme = EditorView.theme({
  '&': { height: '100%', fontSize: '12.5px', color: 'var(--text)', backgroundColor: 'var(--surface)' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--text)', padding: '6px 0' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--muted)', border: 'none', borderRight: '1px solid var(--line)' },
  '.cm-activeLine': { backgroundColor: 'var(--hover)' },
  '.cm-activeLineGutter': { backgroundColor: 'var(--hover)', color: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--selection)' },
  '.cm-selectionMatch': { backgroundColor: 'var(--selection)' },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', color: 'var(--text)', border: '1px solid var(--line)', borderRadius: '6px', boxShadow: 'var(--shadow)' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)' },
  '.cm-completionInfo': { maxWidth: '32em', whiteSpace: 'normal', fontFamily: 'var(--sans)', padding: '6px 8px' },
  '.cm-diagnostic': { fontFamily: 'var(--sans)', fontSize: '12.5px' },
  '.cm-panels': { backgroundColor: 'var(--raised)', color: 'var(--text)' },
  '.cm-panels input': { backgroundColor: 'var(--surface)', color: 'var(--text)' },
  '.cm-foldPlaceholder': { backgroundColor: 'var(--hover)', border: 'none', color: 'var(--muted)' },
  '.doc': { maxWidth: '36em', padding: '6px 10px', fontFamily: 'var(--sans)', fontSize: '12.5px' },
  '.doc b': { fontFamily: 'var(--mono)' },
});

const highlighting = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--syntax-key)' },
  { tag: tags.string, color: 'var(--syntax-string)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--syntax-number)' },
  { tag: tags.comment, color: 'var(--muted)', fontStyle: 'italic' },
  { tag: [tags.separator, tags.punctuation, tags.meta], color: 'var(--muted)' },
]);

export interface EditorOptions {
  text: string;
  readOnly?: boolean;
  label: string;
  /** Called for each change of the text. */
  changed?: (text: string) => void;
  /** Called with the path of the field at the cursor. */
  moved?: (path: Step[]) => void;
  /** Called for Ctrl-S. */
  save?: () => void;
}

export class Editor {
  readonly view: EditorView;
  private schema: KindSchema | undefined;

  constructor(host: HTMLElement, options: EditorOptions) {
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(':host { display: block; height: 100%; overflow: hidden; }');
    root.adoptedStyleSheets = [sheet];
    const state = EditorState.create({ doc: options.text, extensions: this.extensions(options) });
    this.view = new EditorView({ state, parent: root, root });
  }

  private extensions({ readOnly, label, changed, moved, save }: EditorOptions): Extension[] {
    const keys = [...completionKeymap, ...defaultKeymap, ...historyKeymap, ...searchKeymap, ...foldKeymap, ...lintKeymap];
    const saving = { key: 'Mod-s', preventDefault: true, run: () => (save?.(), true) };
    return [
      lineNumbers(), foldGutter(), lintGutter(), history(), drawSelection(), bracketMatching(),
      highlightActiveLine(), highlightActiveLineGutter(), highlightSelectionMatches(),
      yaml(), indentUnit.of('  '), syntaxHighlighting(highlighting), theme,
      autocompletion({ override: [(context) => this.complete(context)], icons: false }),
      hoverTooltip((view, offset) => this.hover(view, offset)),
      // Tab leaves the editor after Escape, as CodeMirror documents it for users of the keyboard.
      keymap.of([saving, ...keys, indentWithTab]),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ 'aria-label': label }),
      EditorState.readOnly.of(!!readOnly),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) changed?.(update.state.doc.toString());
        if (update.docChanged || update.selectionSet) moved?.(this.path());
      }),
    ];
  }

  setSchema(schema: KindSchema | undefined) {
    this.schema = schema;
  }

  text(): string {
    return this.view.state.doc.toString();
  }

  setText(text: string) {
    if (text === this.text()) return;
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
  }

  show(problems: Problem[]) {
    const length = this.view.state.doc.length;
    const diagnostics: Diagnostic[] = problems
      .map(({ from, to, severity, message, source }) => ({ from: Math.min(from, length), to: Math.min(to, length), severity, message, source }))
      .sort((a, b) => a.from - b.from);
    this.view.dispatch(setDiagnostics(this.view.state, diagnostics));
  }

  /** Moves the cursor to an offset, and the focus into the editor. */
  goTo(offset: number) {
    const anchor = Math.min(offset, this.view.state.doc.length);
    this.view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: 'center' }) });
    this.view.focus();
  }

  path(): Step[] {
    const { doc, selection } = this.view.state;
    return new YamlText(doc.toString()).pathAt(selection.main.head);
  }

  destroy() {
    this.view.destroy();
  }

  private hover(view: EditorView, offset: number) {
    const path = new YamlText(view.state.doc.toString()).pathAt(offset);
    const schema = this.schema?.at(path);
    if (!schema || path.length === 0) return null;
    const resolved = this.schema!.resolve(schema);
    if (!resolved.description) return null;
    return {
      pos: offset,
      above: true,
      create: () => {
        const dom = document.createElement('div');
        dom.className = 'doc';
        const name = document.createElement('b');
        name.textContent = `${path.at(-1)}: ${this.schema!.typeName(schema)}`;
        const text = document.createElement('div');
        text.textContent = resolved.description!;
        dom.append(name, text);
        return { dom };
      },
    };
  }

  /** Completes names of fields, and values of fields with few values. */
  private complete(context: CompletionContext) {
    const schema = this.schema;
    if (!schema) return null;
    const line = context.state.doc.lineAt(context.pos);
    const before = line.text.slice(0, context.pos - line.from);
    const value = before.match(/^\s*(?:- )*([\w.-]+):\s+(\S*)$/);
    if (value) {
      const at = schema.at(new YamlText(context.state.doc.toString()).pathAt(context.pos));
      const resolved = at && schema.resolve(at);
      const values = resolved?.enum ?? (resolved?.type === 'boolean' ? [true, false] : []);
      const options = values.map((one) => ({ label: String(one) }));
      return options.length > 0 ? { from: context.pos - value[2].length, options } : null;
    }
    const name = before.match(/^([\s-]*)([\w-]*)$/);
    if (!name || (!name[2] && !context.explicit)) return null;
    const parent = this.parentAt(line.number, name[1].length);
    const at = parent && schema.at(parent);
    if (!at) return null;
    const required = schema.required(at);
    const options = Object.entries(schema.fields(at)).map(([label, field]) => completion(schema, label, field, required.includes(label)));
    return { from: context.pos - name[2].length, options, validFor: /^[\w-]*$/ };
  }

  /** The path of the map that a key in a column of a line belongs to. */
  private parentAt(number: number, column: number): Step[] {
    const { doc } = this.view.state;
    const path: Step[] = [];
    let limit = column;
    for (let n = number - 1; n > 0 && limit > 0; n--) {
      const match = doc.line(n).text.match(/^(\s*)((?:- )*)([\w./-]+|"[^"]*"):/);
      if (!match) continue;
      const [, indent, dashes, key] = match;
      const at = indent.length + dashes.length;
      if (at < limit) {
        path.unshift(key);
        // The key of the list is at most as far right as the dash of its element.
        limit = dashes ? indent.length + 1 : at;
      }
    }
    // The fields of the elements of a list are those of the list for KindSchema.fields.
    return withElements(path, this.schema);
  }
}

/** Adds the index of an element after each list in a path of names. */
function withElements(names: Step[], schema: KindSchema | undefined): Step[] {
  const path: Step[] = [];
  let at: Schema | undefined = schema?.root;
  for (const name of names) {
    while (at && schema!.resolve(at).items) {
      path.push(0);
      at = schema!.child(at, 0);
    }
    path.push(name);
    at = at && schema!.child(at, name);
  }
  return path;
}

function completion(schema: KindSchema, label: string, field: Schema, isRequired: boolean): Completion {
  const resolved = schema.resolve(field);
  const isNested = resolved.properties || resolved.items || resolved.additionalProperties;
  return {
    label,
    detail: schema.typeName(field) + (isRequired ? ', required' : ''),
    info: resolved.description,
    boost: isRequired ? 1 : 0,
    apply: isNested ? `${label}:` : `${label}: `,
  };
}
