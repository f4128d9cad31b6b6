import type preact from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Failure, type KubeObject, message } from '../api';
import { useShared } from '../context';
import { apiVersion, type Kind, kindOf } from '../discovery';
import type { Editor } from '../editor';
import { MANAGER, removedOfOthers } from '../fields';
import { type Problem, YamlText } from '../positions';
import { type KindSchema, schemaOf, type Step } from '../schema';
import { validate } from '../validate';
import { type Conflict, type Edit, type Mode, problemsOf, tryOut, type Verdict, write } from '../write';
import { Changes } from './changes';
import { SchemaPanel } from './schemapanel';
import { Notice, pathText } from './text';
import { YamlEditor } from './yamleditor';

/** How long the user has to pause before the server tries the object. */
const PAUSE = 500;

interface Props {
  /** The text to start with. */
  initial: string;
  /** The object on the server; none for new objects. */
  live?: KubeObject;
  kind?: Kind;
  /** The namespace of new objects that name none. */
  namespace?: string;
  done: (objects: KubeObject[]) => void;
}

type Tab = 'schema' | 'changes' | 'problems';

/** The editor with the schema, the problems and the changes beside it. */
export function EditPane({ initial, live, kind, namespace, done }: Props) {
  const { groups } = useShared();
  const [text, setText] = useState(initial);
  const [resets, setResets] = useState(0);
  const [path, setPath] = useState<Step[]>([]);
  const [mode, setMode] = useState<Mode>(live ? 'apply' : 'create');
  const [force, setForce] = useState(false);
  const [tab, setTab] = useState<Tab>('schema');
  const [schema, setSchema] = useState<KindSchema>();
  const [local, setLocal] = useState<Problem[]>([]);
  const [verdict, setVerdict] = useState<Verdict & { of: string }>();
  const [error, setError] = useState('');
  const [busy, setBusy] = useState(false);
  const editor = useRef<Editor | null>(null);
  const parsed = useMemo(() => new YamlText(text), [text]);
  const named = useMemo(() => kindOfText(parsed), [parsed]);
  const current = kind ?? (named && kindOf(groups, named.apiVersion, named.kind));

  useEffect(() => setText(initial), [initial]);
  useEffect(() => {
    if (!current) return setSchema(undefined);
    let isCurrent = true;
    schemaOf(current.group, current.version, current.kind).then((found) => isCurrent && setSchema(found)).catch(() => undefined);
    return () => void (isCurrent = false);
  }, [current?.group, current?.version, current?.kind]);

  useEffect(() => {
    const syntax = parsed.problems();
    setLocal(syntax.length > 0 || !schema ? syntax : validate(parsed, schema));
  }, [parsed, schema]);

  const edits = useCallback((): Edit[] => {
    return parsed.documents.map((document, index) => {
      const edited = parsed.value(document) as KubeObject;
      const of = index === 0 && kind ? kind : kindOf(groups, edited?.apiVersion, edited?.kind);
      if (!of) throw new Error(`The server does not serve the kind ${edited?.kind ?? '(none)'} of ${edited?.apiVersion ?? '(none)'}.`);
      if (edited.apiVersion !== apiVersion(of) || edited.kind !== of.kind) throw new Error(`apiVersion and kind must be ${apiVersion(of)} and ${of.kind}.`);
      const metadata = { ...edited.metadata };
      if (of.namespaced && !metadata.namespace) metadata.namespace = namespace || 'default';
      if (live && metadata.name !== live.metadata.name) throw new Error('The name of an object cannot change.');
      return { kind: of, mode, live, edited: { ...edited, metadata }, schema: index === 0 ? schema : undefined };
    });
  }, [parsed, kind, groups, mode, live, namespace, schema]);

  // The server tries the object while the user types. The result of an older text is dropped.
  useEffect(() => {
    if (parsed.documents.length === 0 || parsed.problems().length > 0 || (live && text === initial)) {
      setVerdict(undefined);
      setError('');
      return;
    }
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const found = await Promise.all(edits().map((edit, index) => tryOut(edit, parsed, index, abort.signal)));
        if (abort.signal.aborted) return;
        setError('');
        setVerdict({ ...joined(found), of: text });
      } catch (failure) {
        if (abort.signal.aborted) return;
        setVerdict(undefined);
        setError(message(failure));
      }
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [parsed, edits]);

  const problems = useMemo(() => merged(local, verdict?.problems ?? []), [local, verdict]);
  const errors = problems.filter((problem) => problem.severity === 'error');
  const isChanged = text !== initial || !live;
  const isChecked = verdict?.of === text;
  const conflicts = (isChecked && verdict?.conflicts) || [];
  const left = useMemo(() => {
    if (mode !== 'apply' || !live || errors.length > 0 || !isChecked) return [];
    return removedOfOthers(live, parsed.value());
  }, [mode, live, parsed, errors.length, isChecked]);
  const canWrite = isChanged && isChecked && errors.length === 0 && !busy && (conflicts.length === 0 || force);

  const submit = async () => {
    setTab('changes');
    if (!canWrite) return;
    setBusy(true);
    setError('');
    const written: KubeObject[] = [];
    try {
      for (const edit of edits()) written.push((await write(edit, { dryRun: false, force })).object);
      setForce(false);
      done(written);
    } catch (failure) {
      setError(message(failure));
      if (failure instanceof Failure && !live) setVerdict({ problems: problemsOf(failure, edits()[written.length], parsed, written.length), conflicts: [], warnings: [], of: text });
    }
    setBusy(false);
  };

  const label = mode === 'create' ? 'Create' : mode === 'apply' ? 'Apply' : 'Replace';
  const jump = (problem: Problem) => editor.current?.goTo(problem.from);
  return (
    <div class="edit">
      <div class="panes">
        <YamlEditor text={initial} revision={resets} label="Object as YAML" schema={schema} problems={problems} changed={setText} moved={setPath} save={() => setTab('changes')} editor={(one) => (editor.current = one)} />
        <aside class="beside" aria-label="Beside the object">
          <div class="tabs" role="tablist" aria-label="Beside the object">
            <TabButton id="schema" tab={tab} setTab={setTab}>Schema</TabButton>
            <TabButton id="changes" tab={tab} setTab={setTab}>Changes</TabButton>
            <TabButton id="problems" tab={tab} setTab={setTab}>
              Problems{problems.length > 0 && <span class={`count ${errors.length > 0 ? 'bad' : 'warn'}`}>{problems.length}</span>}
            </TabButton>
          </div>
          <div class="tabpanel" role="tabpanel" aria-label={tab}>
            {tab === 'schema' && <SchemaPanel schema={schema} path={path} kind={current?.kind ?? '(no kind)'} />}
            {tab === 'changes' && (isChanged ? <Changes live={live} result={isChecked && parsed.documents.length === 1 ? verdict?.result : undefined} /> : <p class="muted pad">No changes yet.</p>)}
            {tab === 'problems' && <Problems problems={problems} text={parsed} jump={jump} />}
          </div>
        </aside>
      </div>
      {conflicts.length > 0 && <Conflicts conflicts={conflicts} force={force} setForce={setForce} />}
      {left.length > 0 && (
        <Notice kind="info">
          Applying does not remove {left.slice(0, 5).map(pathText).join(', ')}{left.length > 5 && ` and ${left.length - 5} more`}: other managers own
          {left.length === 1 ? ' it' : ' them'}. Replacing does.
        </Notice>
      )}
      {isChecked && verdict?.warnings.map((warning) => <Notice kind="info" key={warning}>{warning}</Notice>)}
      {error && <Notice kind="error">{error}</Notice>}
      <div class="buttons">
        <span class="muted" role="status">{stateText(isChanged, isChecked, errors.length, conflicts.length, parsed)}</span>
        <span class="grow" />
        {live && (
          <label>Write by
            <select value={mode} onChange={(event) => setMode(event.currentTarget.value as Mode)}>
              <option value="apply">server-side apply</option>
              <option value="replace">replacement</option>
            </select>
          </label>
        )}
        {live && <button disabled={!isChanged} onClick={() => setResets(resets + 1)}>Undo all</button>}
        <button onClick={() => setTab('changes')} disabled={!isChanged}>Review</button>
        <button class="primary" disabled={!canWrite} onClick={() => void submit()}>{busy ? 'Writing…' : force ? `${label} with force` : label}</button>
      </div>
    </div>
  );
}

function TabButton({ id, tab, setTab, children }: { id: Tab; tab: Tab; setTab: (tab: Tab) => void; children: preact.ComponentChildren }) {
  return <button role="tab" aria-selected={tab === id} onClick={() => setTab(id)}>{children}</button>;
}

function Conflicts({ conflicts, force, setForce }: { conflicts: Conflict[]; force: boolean; setForce: (force: boolean) => void }) {
  return (
    <div class="notice warn" role="alert">
      <b>Other managers own {conflicts.length === 1 ? 'a field' : 'fields'} that this changes.</b>
      <table class="plain">
        <thead><tr><th>Field</th><th>Manager</th></tr></thead>
        <tbody>{conflicts.map(({ field, manager }) => <tr key={field + manager}><td class="mono">{field}</td><td>{manager}</td></tr>)}</tbody>
      </table>
      <label class="check"><input type="checkbox" checked={force} onChange={(event) => setForce(event.currentTarget.checked)} />Take {conflicts.length === 1 ? 'it' : 'them'} over for the manager “{MANAGER}” (force)</label>
    </div>
  );
}

function Problems({ problems, text, jump }: { problems: Problem[]; text: YamlText; jump: (problem: Problem) => void }) {
  if (problems.length === 0) return <p class="muted pad">No problems.</p>;
  return (
    <ul class="problems">
      {problems.map((problem, index) => (
        <li key={index} class={problem.severity}>
          <button class="link" onClick={() => jump(problem)}>Line {text.lines.linePos(problem.from).line}</button> {problem.message}
          <span class="muted"> {problem.source}</span>
        </li>
      ))}
    </ul>
  );
}

function stateText(isChanged: boolean, isChecked: boolean, errors: number, conflicts: number, text: YamlText): string {
  if (!isChanged) return 'No changes.';
  if (text.documents.length === 0) return 'Nothing to write.';
  if (errors > 0) return errors === 1 ? '1 error' : `${errors} errors`;
  if (conflicts > 0) return conflicts === 1 ? '1 conflict' : `${conflicts} conflicts`;
  return isChecked ? 'The server accepts this.' : 'Checking…';
}

/** The problems of the server, and those of the schema in other lines. */
function merged(local: Problem[], server: Problem[]): Problem[] {
  const taken = new Set(server.map((problem) => problem.from));
  return [...server, ...local.filter((problem) => !taken.has(problem.from))].sort((a, b) => a.from - b.from);
}

function joined(verdicts: Verdict[]): Verdict {
  return {
    problems: verdicts.flatMap((one) => one.problems),
    conflicts: verdicts.flatMap((one) => one.conflicts),
    warnings: verdicts.flatMap((one) => one.warnings),
    result: verdicts[0]?.result,
  };
}

function kindOfText(text: YamlText): { apiVersion: string; kind: string } | undefined {
  const { apiVersion, kind } = (text.problems().length === 0 && text.value()) || {};
  return typeof apiVersion === 'string' && typeof kind === 'string' ? { apiVersion, kind } : undefined;
}
